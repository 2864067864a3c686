//! Storage orders, compared with the output of Boost.MultiArray.

use serde_json::json;
use tgm_zio::Layout;

use crate::vectors::list;

#[test]
fn strides_and_offsets_are_those_of_boost() {
    for vector in list("layout.json", "vectors", 50) {
        let shape: Vec<u64> = serde_json::from_value(vector["shape"].clone()).unwrap();
        let order: Vec<usize> = serde_json::from_value(vector["order"].clone()).unwrap();
        let ascend: Vec<bool> = serde_json::from_value(vector["ascend"].clone()).unwrap();
        let layout = Layout::new(&shape, Some(&order), Some(&ascend)).unwrap();
        let mut strides = vec![0; shape.len()];
        let offset = layout.strides_into(&mut strides).unwrap();
        assert_eq!((json!(strides), json!(offset)), (vector["strides"].clone(), vector["offset"].clone()), "{vector}");
        let origin = vec![0; shape.len()];
        if !shape.contains(&0) {
            assert_eq!(layout.flat_index(&origin), Some(offset), "{vector}");
        }
    }
}
