//! Messages where they lie: borrowed values, and decoding into memory of the caller.

use std::ffi::c_char;
use std::fmt;
use std::ptr;
use std::sync::{Arc, Mutex, RwLock};

use tgm_std::core::Message as Parsed;
use tgm_std::core::descriptor::{ByteOrder, Dtype};
use tgm_std::core::object::DataObject;
use tgm_std::core::selection::{Pick, Selection};
use tgm_std::decode::Picks;
use tgm_std::{ObjectTable, Read, Scratch, TensogramFile, decode_descriptors, read};

use crate::args::{self, OutputMemory};
use crate::call::{call, get, run};
use crate::decode::decoded_size;
use crate::error::{Code, ENCODING, Report, Result, invalid, of_object};
use crate::file::{self, File};
use crate::metadata::Metadata;
use crate::object::dtype_code;
use crate::options::{self, DecodeOptionsStruct};
use crate::ranges;

/// A `tgm_view_t` of C: an open message. Its bytes are the caller's, or a mapped file's that the view keeps open.
/// Threads may share a view.
pub struct View {
    message: Parsed<'static>,
    table: ObjectTable,
    objects: Vec<Outline>,
    /// Memory that calls work in. A call that finds it taken works in memory of its own.
    scratch: Mutex<Scratch>,
    file: Option<Arc<RwLock<TensogramFile>>>,
}

/// Numbers of an object, for C.
struct Outline {
    shape: Vec<u64>,
    /// Bytes from one element to the next, for each dimension. Bits of a bitmask have none.
    strides: Vec<i64>,
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View").field("objects", &self.objects.len()).finish_non_exhaustive()
    }
}

/// A `tgm_array_view_t` of C.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ArrayView {
    struct_size: usize,
    data: *const u8,
    size: usize,
    shape: *const u64,
    strides: *const i64,
    ndim: usize,
    num_elements: u64,
    dtype: i32,
    byte_order: i32,
    item_size: u32,
    is_native: u8,
    is_aligned: u8,
    reserved: u16,
}

impl ArrayView {
    /// The values in the message.
    pub(crate) const fn data(&self) -> *const u8 {
        self.data
    }

    /// Whether the values are in this machine's byte order, or have none.
    pub(crate) const fn is_native(&self) -> bool {
        self.is_native != 0
    }

    /// Whether the values are aligned for their type.
    pub(crate) const fn is_aligned(&self) -> bool {
        self.is_aligned != 0
    }
}

impl View {
    /// Opens the message that `bytes` begin with.
    ///
    /// The objects are found by a walk over the frames, so an index that lies leads nowhere.
    fn open(bytes: &'static [u8], file: Option<Arc<RwLock<TensogramFile>>>) -> Result<Self> {
        let message = Parsed::parse(bytes)?;
        let table = ObjectTable::by_walk(&message)?;
        let objects = table.objects(&message).map(|object| Ok(Outline::new(&object?)));
        let objects = objects.collect::<Result<_>>()?;
        Ok(Self { message, table, objects, scratch: Mutex::default(), file })
    }

    fn object(&self, index: usize) -> Result<DataObject<'static>> {
        Ok(self.table.object(&self.message, index)?)
    }

    /// The mapped file in which the message lies.
    pub(crate) fn file(&self) -> Option<Arc<RwLock<TensogramFile>>> {
        self.file.clone()
    }

    /// The type of an object's elements, and its dimensions.
    pub(crate) fn form(&self, index: usize) -> Result<(Dtype, &[u64])> {
        let dtype = self.object(index)?.descriptor().dtype();
        Ok((dtype, &self.objects.get(index).ok_or_else(Report::internal)?.shape))
    }

    /// The bytes that an object's decoded values take.
    pub(crate) fn size(&self, index: usize) -> Result<usize> {
        decoded_size(&self.object(index)?)
    }

    /// Memory of the caller as a slice, which lies apart from the message.
    fn apart<'a, T>(&self, memory: OutputMemory<'a, T>) -> Result<&'a mut [T]> {
        memory.apart_from(self.message.as_bytes())
    }

    /// Opens object `index`, and calls `decode` with it, with memory to work in, and with the memory for the result.
    pub(crate) fn decode<T>(
        &self,
        index: usize,
        out: &mut [T],
        decode: impl FnOnce(&DataObject<'_>, &mut Scratch, &mut [T]) -> tgm_std::Result<()>,
    ) -> Result<()> {
        let object = self.object(index)?;
        let decoded = match self.scratch.try_lock() {
            Ok(mut scratch) => decode(&object, &mut scratch, out),
            Err(_) => decode(&object, &mut Scratch::default(), out),
        };
        decoded.map_err(|error| of_object(error, index))
    }

    /// The description of an object whose values lie in the message as they are, with a pointer to them.
    pub(crate) fn borrow(&self, index: usize) -> Result<ArrayView> {
        let object = self.object(index)?;
        let values = object.view_any()?.as_bytes();
        let mut made = self.describe(index, &object)?;
        let unit = usize::try_from(made.item_size).unwrap_or(1).clamp(1, align_of::<u64>());
        made.data = values.as_ptr();
        made.size = values.len();
        made.is_aligned = u8::from(values.as_ptr().addr().is_multiple_of(unit));
        Ok(made)
    }

    /// The description of an object, without its values.
    fn describe(&self, index: usize, object: &DataObject<'_>) -> Result<ArrayView> {
        let outline = self.objects.get(index).ok_or_else(Report::internal)?;
        let descriptor = object.descriptor();
        let (dtype, order) = (descriptor.dtype(), descriptor.byte_order());
        let strides = if dtype == Dtype::Bitmask { ptr::null() } else { outline.strides.as_ptr() };
        Ok(ArrayView {
            struct_size: size_of::<ArrayView>(),
            data: ptr::null(),
            size: decoded_size(object)?,
            shape: outline.shape.as_ptr(),
            strides,
            ndim: outline.shape.len(),
            num_elements: descriptor.element_count(),
            dtype: dtype_code(dtype),
            byte_order: i32::from(order == ByteOrder::Big),
            item_size: if dtype == Dtype::Bitmask { 0 } else { u32::try_from(dtype.byte_width()).unwrap_or(0) },
            is_native: u8::from(order == ByteOrder::NATIVE || dtype.swap_unit_size() <= 1),
            is_aligned: 0,
            reserved: 0,
        })
    }
}

impl Outline {
    fn new(object: &DataObject<'_>) -> Self {
        let shape: Vec<u64> = object.descriptor().shape().iter().collect();
        let mut stride = i64::try_from(object.descriptor().dtype().byte_width()).unwrap_or(0);
        let mut strides = vec![stride; shape.len()];
        for (slot, dim) in strides.iter_mut().zip(&shape).rev() {
            *slot = stride;
            stride = stride.saturating_mul(i64::try_from(*dim).unwrap_or(i64::MAX));
        }
        Self { shape, strides }
    }
}

/// Opens the message that a buffer begins with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_view_open(buf: *const u8, buf_len: usize, out: *mut *mut View) -> Code {
    call(|| {
        // SAFETY: the header's contract: the buffer lives and does not change until the view is freed.
        let (bytes, out) = unsafe { (args::slice(buf, buf_len)?, args::place(out)?) };
        out.put_handle(View::open(bytes, None)?);
        Ok(())
    })
}

/// Opens a message of a mapped file. The view keeps the file open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_view_open_file(file: *const File, index: usize, out: *mut *mut View) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (file, out) = unsafe { (args::required(file)?, args::place(out)?) };
        let guard = file.read();
        let bytes = file::mapped(&guard)?.message_bytes(index)?;
        // SAFETY: by the header's contract, no program changes the mapped file. The view keeps the map, so the bytes
        // live as long as the view.
        let bytes = unsafe { args::slice(bytes.as_ptr(), bytes.len())? };
        out.put_handle(View::open(bytes, Some(file.share()))?);
        Ok(())
    })
}

/// Frees a view.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_view_free(view: *mut View) {
    // SAFETY: the header's contract.
    run(|| unsafe { args::free(view) });
}

/// The number of objects.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_view_num_objects(view: *const View) -> usize {
    // SAFETY: the header's contract.
    get(0, || unsafe { args::optional(view) }.map(|view| view.objects.len()))
}

/// The metadata of the message, merged from all its frames.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_view_metadata(view: *const View, out: *mut *mut Metadata) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (view, out) = unsafe { (args::required(view)?, args::place(out)?) };
        let (metadata, _) = decode_descriptors(view.message.as_bytes())?;
        out.put_handle(Metadata::new(Arc::new(metadata)));
        Ok(())
    })
}

/// Writes a description to a struct that says its size.
///
/// # Safety
/// The pointer is NULL or leads to a struct of as many bytes as it says. The caller does not use it during the call.
unsafe fn put_description(out: *mut ArrayView, describe: impl FnOnce() -> Result<ArrayView>) -> Result<()> {
    // SAFETY: the struct begins with its size.
    let size = *unsafe { args::required(out.cast::<usize>())? };
    if size < size_of::<ArrayView>() {
        return Err(invalid(format!("struct_size {size} is less than {}", size_of::<ArrayView>())));
    }
    let made = ArrayView { struct_size: size, ..describe()? };
    // SAFETY: the struct has all fields that this version knows.
    unsafe { args::place(out)? }.put(made);
    Ok(())
}

/// Describes an object: shape, type, and the bytes of its values. `data` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_describe(view: *const View, index: usize, out: *mut ArrayView) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        unsafe {
            let view = args::required(view)?;
            put_description(out, || view.describe(index, &view.object(index)?))
        }
    })
}

/// Describes an object whose values lie in the message as they are, with a pointer to them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_view(view: *const View, index: usize, out: *mut ArrayView) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        unsafe {
            let view = args::required(view)?;
            put_description(out, || view.borrow(index))
        }
    })
}

/// The encoded bytes of an object, without masks, where they lie.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_view_payload(
    view: *const View,
    index: usize,
    out: *mut *const u8,
    out_len: *mut usize,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (view, out, out_len) = unsafe { (args::required(view)?, args::place(out)?, args::place(out_len)?) };
        let payload = view.object(index)?.payload();
        out.put(payload.as_ptr());
        out_len.put(payload.len());
        Ok(())
    })
}

/// Decodes an object into memory of the caller by `decode`.
///
/// # Safety
/// The header's contract.
unsafe fn decode_whole<T>(
    view: *const View,
    index: usize,
    options: *const DecodeOptionsStruct,
    (out, len): (*mut T, usize),
    decode: impl FnOnce(Read<'_, '_>, &mut [T]) -> tgm_std::Result<()>,
) -> Code {
    call(|| {
        // SAFETY: the caller makes the same promise.
        let (view, options, out) =
            unsafe { (args::required(view)?, options::decoding_struct(options)?, args::output_memory(out, len)?) };
        view.decode(index, view.apart(out)?, |object, scratch, out| {
            decode(read(object).options(&options).scratch(scratch), out)
        })
    })
}

/// Decodes an object into memory of the caller.
#[allow(clippy::redundant_closure_for_method_calls, reason = "as a path, the method would be of one lifetime")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_view_decode_into(
    view: *const View,
    index: usize,
    options: *const DecodeOptionsStruct,
    out: *mut u8,
    out_len: usize,
) -> Code {
    // SAFETY: the header's contract.
    unsafe { decode_whole(view, index, options, (out, out_len), |request, out| request.bytes_into(out)) }
}

/// Decodes ranges of an object's elements into memory of the caller, one range behind the other.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_view_decode_range_into(
    view: *const View,
    index: usize,
    ranges_offsets: *const u64,
    ranges_counts: *const u64,
    num_ranges: usize,
    options: *const DecodeOptionsStruct,
    out: *mut u8,
    out_len: usize,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (view, ranges, options, out) = unsafe {
            (
                args::required(view)?,
                ranges::read(ranges_offsets, ranges_counts, num_ranges)?,
                options::decoding_struct(options)?,
                args::output_memory(out, out_len)?,
            )
        };
        view.decode(index, view.apart(out)?, |object, scratch, out| {
            read(object).ranges(&ranges).options(&options).scratch(scratch).bytes_into(out)
        })
    })
}

/// Decodes the values of an object as `double`, whatever their type is, into memory of the caller.
#[allow(clippy::redundant_closure_for_method_calls, reason = "as a path, the method would be of one lifetime")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_view_decode_f64(
    view: *const View,
    index: usize,
    options: *const DecodeOptionsStruct,
    out: *mut f64,
    out_count: usize,
) -> Code {
    // SAFETY: the header's contract.
    unsafe { decode_whole(view, index, options, (out, out_count), |request, out| request.values_into(out)) }
}

/// Decodes the values of an object as `float`, whatever their type is, into memory of the caller.
#[allow(clippy::redundant_closure_for_method_calls, reason = "as a path, the method would be of one lifetime")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_view_decode_f32(
    view: *const View,
    index: usize,
    options: *const DecodeOptionsStruct,
    out: *mut f32,
    out_count: usize,
) -> Code {
    // SAFETY: the header's contract.
    unsafe { decode_whole(view, index, options, (out, out_count), |request, out| request.values_into(out)) }
}

/// The picks that a text names for an object.
fn picks(object: &DataObject<'_>, text: &str) -> Result<Vec<Pick>> {
    let picks = Picks::parse(text).and_then(|picks| picks.resolve(object.descriptor().shape().iter()));
    Ok(picks.map_err(|error| Report::new(ENCODING, error.to_string()))?)
}

/// The bytes of a selection. Bits fill whole bytes.
fn selected_size(object: &DataObject<'_>, selection: &Selection<'_>) -> Result<usize> {
    let bytes = object.descriptor().dtype().byte_len(selection.element_count());
    let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok());
    Ok(bytes.ok_or_else(|| Report::new(ENCODING, "the selection exceeds the address space"))?)
}

/// The shape of a selection, and the bytes that it takes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_view_select_size(
    view: *const View,
    index: usize,
    selection_text: *const c_char,
    out_shape: *mut u64,
    shape_capacity: usize,
    out_ndim: *mut usize,
    out_size: *mut usize,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (view, text, shape, ndim, size) = unsafe {
            (
                args::required(view)?,
                args::text(selection_text, "selection")?,
                args::output_memory(out_shape, shape_capacity)?,
                args::place(out_ndim)?,
                args::place(out_size)?,
            )
        };
        let shape = view.apart(shape)?;
        let object = view.object(index)?;
        let picks = picks(&object, text)?;
        let selection = Selection::new(object.descriptor().shape().into(), &picks)?;
        let bytes = selected_size(&object, &selection)?;
        shape.iter_mut().zip(selection.shape()).for_each(|(slot, dim)| *slot = dim);
        ndim.put(selection.shape().count());
        size.put(bytes);
        Ok(())
    })
}

/// Decodes a selection of an object's values into memory of the caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_view_select_into(
    view: *const View,
    index: usize,
    selection_text: *const c_char,
    options: *const DecodeOptionsStruct,
    out: *mut u8,
    out_len: usize,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (view, text, options, out) = unsafe {
            (
                args::required(view)?,
                args::text(selection_text, "selection")?,
                options::decoding_struct(options)?,
                args::output_memory(out, out_len)?,
            )
        };
        let picks = picks(&view.object(index)?, text)?;
        view.decode(index, view.apart(out)?, |object, scratch, out| {
            read(object).select(&picks).options(&options).scratch(scratch).bytes_into(out)
        })
    })
}
