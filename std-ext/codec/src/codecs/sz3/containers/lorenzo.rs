//! Algorithm 0: each value is predicted from the one or two before it. Each block selects the predictor that does
//! better.

use super::container::Container;
use super::defect::Defect;
use super::huffman::{Code, Symbols};
use super::quantizer::Values;
use super::reader::Reader;
use super::slot::Slot;
use crate::interrupt::Pace;

/// The number of predictors that a block can select from.
const PREDICTORS: u32 = 2;
/// Blocks that are decoded between two questions whether to go on.
const BLOCKS: u32 = 1 << 10;

/// Decodes into all of `out`, which is as long as the container says.
pub(super) fn decode<S: Slot>(reader: &mut Reader<'_>, container: &Container<'_>, out: &mut [S]) -> Result<(), Defect> {
    let selector_count = reader.u64("selectors")?;
    if selector_count != container.block_count() {
        return Err(Defect::Field("number of selectors", selector_count));
    }
    let code = Code::parse(reader, selector_count, PREDICTORS)?;
    let mut selectors = Symbols::parse(reader, code)?;
    let mut values = Values::parse(reader, container)?;
    let (mut before_last, mut last) = (0.0, 0.0);
    let mut pace = Pace::of(BLOCKS);
    for block in out.chunks_mut(container.block_size as usize) {
        pace.step().map_err(|_| Defect::Interrupted)?;
        let is_linear = selectors.next()? == 1;
        for slot in block {
            let prediction = if is_linear { 2.0 * last - before_last } else { last };
            let value = values.next(prediction, container.bound)?;
            *slot = S::new(value);
            (before_last, last) = (last, value);
        }
    }
    selectors.finish()?;
    values.finish()
}
