//! Writes seeds for the fuzz targets, cut out of the small files of the test data: `seeds DATA OUT` makes a folder for
//! each kind of input. It is built with the targets, because it needs the same crates.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use tgm_catalog::Catalog;
use tgm_catalog::tree::{Child, Tree};
use tgm_convert::arrays::Arrays;
#[cfg(feature = "zarr")]
use tgm_convert::{
    ArrayWriter as _,
    zarr::{ToZarrOptions, ZarrWriter},
};
use tgm_convert::{csv, npy, npz, safetensors};
use tgm_core::Message;
use tgm_core::descriptor::{Compression, Encoding};
use tgm_core::object::DataObject;
use tgm_std::DecodeOptions;

/// Bytes of the largest file that becomes a seed.
const MOST: usize = 2048;

fn main() -> io::Result<()> {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let (Some(data), Some(out)) = (arguments.next(), arguments.next()) else {
        return Err(io::Error::other("usage: seeds DATA OUT"));
    };
    let mut seeds = Seeds { out, count: 0 };
    seeds.folder(&data)?;
    println!("{} seeds", seeds.count);
    Ok(())
}

struct Seeds {
    out: PathBuf,
    count: usize,
}

impl Seeds {
    fn folder(&mut self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let extension = path.extension().and_then(|extension| extension.to_str());
            match extension {
                _ if path.is_dir() => self.folder(&path)?,
                Some(kind @ ("tgm" | "zio" | "grib2")) => {
                    let bytes = fs::read(&path)?;
                    if bytes.len() <= MOST {
                        self.write(kind, &bytes)?;
                        if let Ok(catalog) = Catalog::build(&bytes, &["dtype", "objects"]) {
                            let stored = catalog.to_bytes();
                            self.write("catalog", &stored)?;
                            self.tree(&catalog, &stored)?;
                        }
                        self.parts(&bytes)?;
                        self.grids(&bytes)?;
                        self.arrays(&bytes)?;
                        #[cfg(feature = "zarr")]
                        self.zarr(&bytes)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The tree of two files with one catalogue, and of a tree below it.
    fn tree(&mut self, catalog: &Catalog, stored: &[u8]) -> io::Result<()> {
        let child = |name: &str| Child::of_catalog(name, catalog, stored);
        let Ok(mut children) = ["a.tgm", "b/c.tgm"].into_iter().map(child).collect::<Result<Vec<_>, _>>() else {
            return Ok(());
        };
        let Ok(below) = Tree::build(&children) else { return Ok(()) };
        self.write("tree", &below.to_bytes())?;
        children.extend(Child::of_tree("b/below.tree", &below, &below.to_bytes()));
        Tree::build(&children).map_or(Ok(()), |tree| self.write("tree", &tree.to_bytes()))
    }

    /// The sections of GRIB that say grids, and names of grids.
    fn grids(&mut self, bytes: &[u8]) -> io::Result<()> {
        const NAMES: [&str; 4] = ["O32", "H2", "1/1", "+proj=lcc +lat_1=50 +lat_0=50 +lon_0=8 +ellps=WGS84"];
        let Ok((message, _)) = tgm_convert::grib2::Message::parse(bytes) else { return Ok(()) };
        for field in message.fields().map_while(Result::ok) {
            if let Ok(Some(grid)) = field.grid() {
                self.write("grid", grid.octets().as_bytes())?;
                NAMES.iter().try_for_each(|name| self.write("grid", name.as_bytes()))?;
            }
        }
        Ok(())
    }

    /// The objects of a message as files of other formats.
    fn arrays(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Ok(arrays) = Arrays::decode(bytes, &DecodeOptions::default()) else { return Ok(()) };
        let mut files = vec![Vec::new(); 4];
        let [npz, npy, tensors, table] = &mut files[..] else { return Ok(()) };
        let written = [
            npz::write(&arrays, npz::Method::Deflated, npz).is_ok(),
            arrays.arrays.first().is_some_and(|array| npy::write(array, npy).is_ok()),
            safetensors::write(&arrays, tensors).is_ok(),
            csv::write(&arrays, csv::Layout::Columns, table).is_ok(),
        ];
        let whole = files.iter().zip(written).filter(|(file, is_whole)| *is_whole && file.len() <= MOST);
        whole.map(|(file, _)| file).try_for_each(|file| self.write("arrays", file))
    }

    /// The objects of a message as arrays of Zarr: each description with its first chunk, and with other codecs around it.
    #[cfg(feature = "zarr")]
    fn zarr(&mut self, bytes: &[u8]) -> io::Result<()> {
        let store = self.out.join("store");
        for zstd_level in [None, Some(3)] {
            _ = fs::remove_dir_all(&store);
            fs::create_dir_all(&self.out)?;
            let options = ToZarrOptions { zstd_level, ..ToZarrOptions::default() };
            let Ok(mut writer) = ZarrWriter::create(&store, options) else { continue };
            if writer.write(bytes, &mut |_| {}).is_ok() {
                self.stores(&store)?;
            }
        }
        fs::remove_dir_all(&store)
    }

    #[cfg(feature = "zarr")]
    fn stores(&mut self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                self.stores(&path)?;
            }
        }
        let Ok(json) = fs::read_to_string(folder.join("zarr.json")) else { return Ok(()) };
        let mut chunk = folder.join("c");
        while chunk.is_dir() {
            chunk.push("0");
        }
        let chunk = fs::read(chunk).unwrap_or_default();
        let sharded = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [1], "index_location": "start",
            "codecs": [{"name": "bytes", "configuration": {"endian": "big"}}, {"name": "gzip", "configuration": {"level": 1}}],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]}}]"#;
        for json in [json.clone(), json.replace("\"zstd\"", "\"blosc\""), replaced(&json, sharded).unwrap_or(json)] {
            let Ok(len) = u16::try_from(json.len()) else { continue };
            if json.len() + chunk.len() <= MOST {
                self.write("zarr", &[&len.to_le_bytes(), json.as_bytes(), &chunk].concat())?;
            }
        }
        Ok(())
    }

    fn parts(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Ok(message) = Message::parse(bytes) else { return Ok(()) };
        for frame in message.frames().map_while(Result::ok) {
            let range = [frame.offset(), frame.end_offset()].map(|at| usize::try_from(at).unwrap_or(bytes.len()));
            self.write("frame", &bytes[range[0]..range[1]])?;
            if !frame.frame_type().is_data_object() {
                self.write("cbor", frame.body())?;
            } else if let Ok(object) = DataObject::parse(frame) {
                self.object(&object)?;
            }
        }
        Ok(())
    }

    fn object(&mut self, object: &DataObject<'_>) -> io::Result<()> {
        let descriptor = object.descriptor();
        self.write("cbor", descriptor.as_encoded())?;
        self.write("values", object.payload())?;
        // The targets take parameters from the last byte on: they follow the payload in reverse order.
        if descriptor.compression().known() == Some(Compression::Szip)
            && let Ok(params) = descriptor.szip()
        {
            let block = [8, 16, 32, 64, 10, 256].iter().position(|size| *size == params.block_size);
            let rsi = [1, 2, 3, 16, 128, 4096].iter().position(|rsi| *rsi == params.rsi);
            let width = match descriptor.packing() {
                Ok(packing) if descriptor.encoding().known() == Some(Encoding::SimplePacking) => packing.bits_per_value,
                _ => 8 * u32::from(descriptor.dtype().byte_width() as u8),
            };
            let tail =
                [200, 0, 0, 0, params.flags as u8, rsi.unwrap_or(4) as u8, block.unwrap_or(0) as u8, width as u8];
            self.write("szip", &[object.payload(), &tail].concat())?;
        }
        for (_, mask) in descriptor.masks().iter() {
            let blob = object.mask_blob(&mask).unwrap_or_default();
            let form = match mask.method().known() {
                Some(tgm_core::descriptor::MaskMethod::None) => 0,
                Some(tgm_core::descriptor::MaskMethod::Rle) => 1,
                _ => 2,
            };
            let count = descriptor.element_count() as u8;
            self.write("mask", &[blob, &[0, 0, count, 0, form]].concat())?;
        }
        Ok(())
    }

    fn write(&mut self, kind: &str, bytes: &[u8]) -> io::Result<()> {
        let folder = self.out.join(kind);
        fs::create_dir_all(&folder)?;
        self.count += 1;
        fs::write(folder.join(format!("{:016x}", tgm_core::hash::digest(bytes))), bytes)
    }
}

/// The description with other codecs.
#[cfg(feature = "zarr")]
fn replaced(json: &str, codecs: &str) -> Option<String> {
    let mut json: serde_json::Value = serde_json::from_str(json).ok()?;
    *json.get_mut("codecs")? = serde_json::from_str(codecs).ok()?;
    Some(json.to_string())
}
