//! Data of objects from Python: arrays of numpy, and bytes.
//!
//! The order of things: [`Data::new`] looks at the object and copies nothing that is in order; the descriptor is made,
//! with what it leaves open taken from the data; [`Data::into_payload`] gives the bytes in the order of the descriptor.

use std::ffi::CString;
use std::ptr::NonNull;

use numpy::{PyArray1, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyException, PyTypeError, PyUserWarning, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyList, PyMemoryView, PyRange, PyTuple};
use tgm_std::{ByteOrder, DataObjectDescriptor, Dtype};

use crate::convert::buffers::Bytes;
use crate::convert::copy::copy;
use crate::work::{attached, detached, has_gil};

/// Arrays up to this size are encoded with the GIL held if they may change. Others are copied first.
pub(crate) const SMALL: usize = 64 << 10;

/// [`SMALL`] for arrays that are stored as they are, which takes no longer than the copy: a tenth of a second.
pub(crate) const SMALL_AS_THEY_ARE: usize = 256 << 20;

/// What an argument has to be.
const EXPECTED: &str = "data must be a numpy array or bytes";

/// The type of an array's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// One that the format has.
    Of(Dtype),
    /// Truth values of one byte, which the format has as bits.
    Bool,
}

impl Element {
    fn name(self) -> &'static str {
        match self {
            Self::Of(dtype) => dtype.name(),
            Self::Bool => "bool",
        }
    }

    /// The type that a descriptor without a dtype gets.
    pub(crate) const fn inferred(self) -> Dtype {
        match self {
            Self::Of(dtype) => dtype,
            Self::Bool => Dtype::Bitmask,
        }
    }
}

/// The data of one object.
pub(crate) enum Data<'py> {
    /// Bytes in the order that the descriptor declares.
    Bytes(Bytes),
    /// An array whose elements lie one after the other, row by row.
    Array(Array<'py>),
}

/// A contiguous array.
pub(crate) struct Array<'py> {
    object: Bound<'py, PyUntypedArray>,
    element: Element,
    order: ByteOrder,
    /// Whether nobody else has this array.
    is_private: bool,
}

impl<'py> Data<'py> {
    /// The data that `object` holds.
    ///
    /// # Errors
    /// `ValueError` for other things than arrays of numbers and bytes.
    pub(crate) fn new(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyBytes>() || object.is_instance_of::<PyByteArray>() {
            return Ok(Self::Bytes(Bytes::borrow(object, "data")?));
        }
        if let Some(bytes) = numbers(object)? {
            return Ok(Self::Bytes(bytes));
        }
        if let Ok(array) = object.cast::<PyUntypedArray>() {
            return Self::of_array(array);
        }
        if let Ok(bytes) = Bytes::borrow(object, "data") {
            return Ok(Self::Bytes(bytes));
        }
        let py = object.py();
        let is_array = [intern!(py, "__array__"), intern!(py, "__array_interface__"), intern!(py, "__dlpack__")]
            .into_iter()
            .try_fold(object.is_instance_of::<PyMemoryView>(), |found, name| {
                Ok::<_, PyErr>(found || object.hasattr(name)?)
            })?;
        if is_array {
            let inputs = py.import(intern!(py, "tgmio._inputs"))?;
            if let Ok(array) = inputs.call_method1(intern!(py, "as_array"), (object,))?.cast::<PyUntypedArray>() {
                return Self::of_array(array);
            }
        }
        Err(refused(object))
    }

    fn of_array(array: &Bound<'py, PyUntypedArray>) -> PyResult<Self> {
        match without_gaps(array)? {
            Some(filled) => Array::new(&filled).map(Self::Array),
            None => Array::new(array).map(Self::Array),
        }
    }

    /// The array, if the data is one.
    pub(crate) const fn array(&self) -> Option<&Array<'py>> {
        match self {
            Self::Bytes(_) => None,
            Self::Array(array) => Some(array),
        }
    }

    /// The bytes to encode under `descriptor`.
    ///
    /// # Errors
    /// `ValueError` if an array's type is not the descriptor's, and its bits cannot stand for it.
    pub(crate) fn into_payload(self, descriptor: &DataObjectDescriptor) -> PyResult<Payload<'py>> {
        match self {
            Self::Bytes(bytes) => Ok(Payload::Bytes(bytes)),
            Self::Array(array) => array.for_descriptor(descriptor).map(Payload::Array),
        }
    }
}

impl<'py> Array<'py> {
    fn new(array: &Bound<'py, PyUntypedArray>) -> PyResult<Self> {
        let element = element_of(array)?.ok_or_else(|| refused(array))?;
        let order = match array.dtype().byteorder() {
            b'>' => ByteOrder::Big,
            b'<' => ByteOrder::Little,
            _ => ByteOrder::native(),
        };
        if array.is_c_contiguous() {
            return Ok(Self { object: array.clone(), element, order, is_private: false });
        }
        let py = array.py();
        let copy = py.import(intern!(py, "numpy"))?.call_method1(intern!(py, "ascontiguousarray"), (array,))?;
        Ok(Self { object: copy.cast_into()?, element, order, is_private: true })
    }

    /// The type of the elements.
    pub(crate) const fn element(&self) -> Element {
        self.element
    }

    /// The byte order of the elements.
    pub(crate) const fn order(&self) -> ByteOrder {
        self.order
    }

    /// The dimensions.
    pub(crate) fn shape(&self) -> Vec<u64> {
        self.object.shape().iter().map(|&dim| dim as u64).collect()
    }

    fn byte_len(&self) -> usize {
        self.object.len().saturating_mul(self.object.dtype().itemsize())
    }

    /// This array with the elements that the descriptor declares.
    fn for_descriptor(self, descriptor: &DataObjectDescriptor) -> PyResult<Self> {
        let declared = descriptor.dtype;
        if self.element == Element::Bool && declared == Dtype::Bitmask {
            return self.packed();
        }
        if !self.fits(declared) && self.has_length_of(descriptor) {
            self.stands_for_bits(descriptor)?;
        }
        // An array in this machine's order is taken to be in the declared order, as programs for `tensogram` expect.
        // zfp and sz3 read numbers in this machine's order.
        let is_numeric = matches!(&*descriptor.compression, "zfp" | "sz3");
        let wanted = if is_numeric { ByteOrder::native() } else { descriptor.byte_order };
        if self.order != ByteOrder::native() && self.order != wanted { self.swapped() } else { Ok(self) }
    }

    /// Warns that the elements are stored as the bits of another type, as programs for `tensogram` expect. They can be
    /// read back by a view with their own type.
    ///
    /// # Errors
    /// `ValueError` if a stage reads the elements as numbers, and for elements that have no bits to be taken over:
    /// truth values, types that numpy lacks, and elements in another order than this machine's. What the filters of
    /// warnings raise.
    fn stands_for_bits(&self, descriptor: &DataObjectDescriptor) -> PyResult<()> {
        let py = self.object.py();
        let text =
            format!("data of dtype {} does not fit the descriptor's dtype {}", self.element.name(), descriptor.dtype);
        let is_kept = descriptor.encoding == "none" && !matches!(&*descriptor.compression, "zfp" | "sz3");
        if !is_kept || !self.is_plain() || self.order != ByteOrder::native() {
            return Err(PyValueError::new_err(text));
        }
        let text = CString::new(format!("{text}: the bits are stored as they are")).unwrap_or_default();
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)
    }

    /// Whether the elements are integers or floats that `tensogram` takes too.
    fn is_plain(&self) -> bool {
        use Dtype as D;
        let Element::Of(dtype) = self.element else { return false };
        !matches!(dtype, D::Float16 | D::Bfloat16 | D::Complex64 | D::Complex128 | D::Bitmask)
    }

    /// Whether these elements can stand for elements of type `declared`. Unsigned integers stand for the bits of any
    /// type.
    fn fits(&self, declared: Dtype) -> bool {
        match self.element {
            Element::Bool => matches!(declared, Dtype::Uint8 | Dtype::Int8),
            Element::Of(Dtype::Uint8 | Dtype::Uint16 | Dtype::Uint32 | Dtype::Uint64) => true,
            Element::Of(dtype) => {
                dtype == declared
                    || matches!(
                        (dtype, declared),
                        (Dtype::Int8, Dtype::Uint8 | Dtype::Bitmask)
                            | (Dtype::Int16, Dtype::Uint16)
                            | (Dtype::Int32, Dtype::Uint32)
                            | (Dtype::Int64, Dtype::Uint64)
                    )
            }
        }
    }

    /// Whether the array has as many bytes as the descriptor asks for. If not, the encoder says so.
    fn has_length_of(&self, descriptor: &DataObjectDescriptor) -> bool {
        let width = descriptor.dtype.byte_width();
        let expected = descriptor.num_elements().ok().and_then(|count| count.checked_mul(width));
        expected == Some(self.byte_len())
    }

    /// Truth values as bits, the first value in the highest bit.
    fn packed(self) -> PyResult<Self> {
        let py = self.object.py();
        let packed = py.import(intern!(py, "numpy"))?.call_method1(intern!(py, "packbits"), (&self.object,))?;
        let element = Element::Of(Dtype::Bitmask);
        Ok(Self { object: packed.cast_into()?, element, is_private: true, ..self })
    }

    fn swapped(self) -> PyResult<Self> {
        let swapped = self.object.call_method0(intern!(self.object.py(), "byteswap"))?;
        Ok(Self { object: swapped.cast_into()?, is_private: true, ..self })
    }

    /// Where the elements are, and how many bytes they have.
    #[allow(unsafe_code, reason = "numpy gives the address in a field of its struct")]
    fn memory(&self) -> (NonNull<u8>, usize) {
        // SAFETY: the pointer leads to the struct of the array that `self` holds, which numpy keeps valid.
        let data = unsafe { (*numpy::npyffi::_PyArray_GET_ITEM_DATA(self.object.as_array_ptr())).data };
        (NonNull::new(data.cast::<u8>()).unwrap_or(NonNull::dangling()), self.byte_len())
    }

    /// The elements, for as long as nobody writes to them: the GIL is held, or the array is private.
    #[allow(unsafe_code, reason = "numpy gives an address")]
    fn as_bytes(&self) -> &[u8] {
        let (data, len) = self.memory();
        // SAFETY: the array is contiguous, so its elements are `len` bytes from `data` on, and `self` keeps it alive.
        // Callers hold the GIL or know that the array is private, so nothing of Python writes to it meanwhile.
        unsafe { std::slice::from_raw_parts(data.as_ptr(), len) }
    }

    /// A copy of the elements.
    ///
    /// # Errors
    /// `RuntimeError` for a panic.
    #[allow(unsafe_code, reason = "numpy gives an address")]
    fn to_vec(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        let (data, len) = self.memory();
        // SAFETY: the array has `len` bytes there, and `self` keeps it alive. numpy refuses to resize arrays that are
        // referenced.
        unsafe { copy(py, data.as_ptr(), len) }
    }
}

/// The values of an array of one dimension, copied.
///
/// # Errors
/// `ValueError` if they do not lie one after the other.
#[allow(unsafe_code, reason = "numpy gives an address")]
pub(crate) fn float64s(array: &Bound<'_, PyArray1<f64>>) -> PyResult<Vec<f64>> {
    if !array.is_c_contiguous() {
        return Err(PyValueError::new_err("argument 'values': the array is not contiguous"));
    }
    // SAFETY: a contiguous array has `len` values there, and `array` keeps it alive.
    unsafe { copy(array.py(), array.data(), array.len()) }
}

/// The bytes of one object, ready for the encoder.
pub(crate) enum Payload<'py> {
    /// Bytes of a Python object.
    Bytes(Bytes),
    /// The elements of an array.
    Array(Array<'py>),
    /// A copy.
    Owned(Vec<u8>),
}

impl Payload<'_> {
    pub(crate) fn while_attached(&self, py: Python<'_>) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes.while_attached(py),
            Self::Array(array) => array.as_bytes(),
            Self::Owned(bytes) => bytes,
        }
    }

    fn into_copy(self) -> Option<Vec<u8>> {
        match self {
            Self::Owned(copy) => Some(copy),
            _ => None,
        }
    }

    /// This payload in memory that nobody else can change.
    fn fixed(self, py: Python<'_>) -> PyResult<Self> {
        match self {
            Self::Bytes(bytes) if !bytes.is_fixed() => Ok(Self::Owned(bytes.to_vec(py)?)),
            Self::Array(array) if !array.is_private => Ok(Self::Owned(array.to_vec(py)?)),
            fixed => Ok(fixed),
        }
    }
}

/// Runs `work` on the bytes of the payloads.
///
/// Bytes that other threads may change are copied, and then the GIL is given away. Bytes up to the length `small` are worked on
/// with the GIL held instead, which takes less time than either.
///
/// # Errors
/// `RuntimeError` for a panic; `MemoryError`.
pub(crate) fn with_payloads<R: Send>(
    py: Python<'_>,
    payloads: Vec<Payload<'_>>,
    small: usize,
    work: impl FnOnce(&[&[u8]]) -> R + Send,
) -> PyResult<R> {
    let len = payloads.iter().fold(0_usize, |sum, payload| sum.saturating_add(payload.while_attached(py).len()));
    if len <= small && has_gil(py) {
        let bytes: Vec<&[u8]> = payloads.iter().map(|payload| payload.while_attached(py)).collect();
        return attached(py, || work(&bytes));
    }
    let payloads = payloads.into_iter().map(|payload| payload.fixed(py)).collect::<PyResult<Vec<_>>>()?;
    let bytes: Vec<&[u8]> = payloads.iter().map(|payload| payload.while_attached(py)).collect();
    let result = detached(py, || work(&bytes))?;
    let copies: Vec<Vec<u8>> = payloads.into_iter().filter_map(Payload::into_copy).collect();
    // Freeing much memory takes time.
    py.detach(|| drop(copies));
    Ok(result)
}

/// Whether an object is a masked array of numpy.
fn is_masked(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    // Plain arrays are frequent: their class alone is asked.
    if object.is_exact_instance_of::<PyUntypedArray>() || object.cast::<PyUntypedArray>().is_err() {
        return Ok(false);
    }
    let py = object.py();
    let ma = py.import(intern!(py, "numpy"))?.getattr(intern!(py, "ma"))?;
    object.is_instance(&ma.getattr(intern!(py, "MaskedArray"))?)
}

/// A masked array without its mask, and any other object as it is.
///
/// # Errors
/// The errors of importing numpy.
pub(crate) fn without_mask<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if is_masked(object)? { object.getattr(intern!(object.py(), "data")) } else { Ok(object.clone()) }
}

/// A masked array as a plain one, with NaN in its gaps, which masks of the format record. `None` for other arrays.
///
/// # Errors
/// `ValueError` for gaps among values that cannot be NaN.
fn without_gaps<'py>(array: &Bound<'py, PyUntypedArray>) -> PyResult<Option<Bound<'py, PyUntypedArray>>> {
    use Dtype as D;
    let py = array.py();
    if !is_masked(array)? {
        return Ok(None);
    }
    let ma = py.import(intern!(py, "numpy"))?.getattr(intern!(py, "ma"))?;
    let has_gaps = ma.call_method1(intern!(py, "is_masked"), (array,))?.is_truthy()?;
    if !has_gaps {
        return Ok(Some(array.getattr(intern!(py, "data"))?.cast_into()?));
    }
    let has_nan = matches!(
        element_of(array)?,
        Some(Element::Of(D::Float16 | D::Bfloat16 | D::Float32 | D::Float64 | D::Complex64 | D::Complex128))
    );
    if !has_nan {
        return Err(PyValueError::new_err(format!(
            "data is a masked array of dtype {}, whose masked elements cannot be NaN: give .filled(value)",
            array.dtype()
        )));
    }
    let filled = array.call_method1(intern!(py, "filled"), (f64::NAN,))?;
    Ok(Some(filled.cast_into()?))
}

/// The type of an array's elements, if the format has it.
fn element_of(array: &Bound<'_, PyUntypedArray>) -> PyResult<Option<Element>> {
    /// Numbers of types from here on belong to other packages than numpy.
    const FOREIGN: std::ffi::c_int = 256;
    let dtype = array.dtype();
    if dtype.num() >= FOREIGN {
        let name = dtype.getattr(intern!(array.py(), "name"))?;
        return Ok((name.extract::<String>()? == "bfloat16").then_some(Element::Of(Dtype::Bfloat16)));
    }
    Ok(Some(Element::Of(match (dtype.kind(), dtype.itemsize()) {
        (b'b', 1) => return Ok(Some(Element::Bool)),
        (b'f', 2) => Dtype::Float16,
        (b'f', 4) => Dtype::Float32,
        (b'f', 8) => Dtype::Float64,
        (b'c', 8) => Dtype::Complex64,
        (b'c', 16) => Dtype::Complex128,
        (b'i', 1) => Dtype::Int8,
        (b'i', 2) => Dtype::Int16,
        (b'i', 4) => Dtype::Int32,
        (b'i', 8) => Dtype::Int64,
        (b'u', 1) => Dtype::Uint8,
        (b'u', 2) => Dtype::Uint16,
        (b'u', 4) => Dtype::Uint32,
        (b'u', 8) => Dtype::Uint64,
        _ => return Ok(None),
    })))
}

/// The bytes of numbers from 0 to 255: of a list, a tuple, a range, or an array of Python's integers. `None` for all
/// other objects.
fn numbers(object: &Bound<'_, PyAny>) -> PyResult<Option<Bytes>> {
    let is_sequence = object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyTuple>()
        || object.is_instance_of::<PyRange>()
        || object.cast::<PyUntypedArray>().is_ok_and(|array| array.dtype().kind() == b'O');
    if !is_sequence {
        return Ok(None);
    }
    // An array without dimensions has nothing to go through.
    let Ok(items) = object.try_iter() else {
        return Ok(None);
    };
    match object.py().get_type::<PyBytes>().call1((items,)) {
        Ok(bytes) => Bytes::borrow(&bytes, "data").map(Some),
        // An item is not a number, or is out of range.
        Err(error) if error.is_instance_of::<PyException>(object.py()) => Ok(None),
        Err(error) => Err(error),
    }
}

fn refused(object: &Bound<'_, PyAny>) -> PyErr {
    let class = object.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    let dtype = match object.getattr("dtype") {
        Ok(dtype) => format!(" of dtype {dtype}"),
        Err(_) => String::new(),
    };
    let advice = object.cast::<PyUntypedArray>().map_or("", |array| instead(array));
    PyValueError::new_err(format!("{EXPECTED} (got {class}{dtype}){advice}"))
}

/// What to do with an array whose type the format lacks.
fn instead(array: &Bound<'_, PyUntypedArray>) -> &'static str {
    let dtype = array.dtype();
    match dtype.kind() {
        b'M' | b'm' => ": give .view('int64'), and the unit as metadata",
        b'f' => ": give .astype('float64'), which rounds",
        b'c' => ": give .astype('complex128'), which rounds",
        b'U' | b'S' | b'T' => ": give text as metadata",
        b'O' => ": give .astype(…) with a type of numbers",
        b'V' if dtype.has_fields() => ": give an object for each field",
        _ => ": give .view('uint8'), and the type as metadata",
    }
}

/// The bytes of an object that is encoded already: `bytes`, other buffers of bytes, and lists of numbers from 0 to 255.
///
/// # Errors
/// `ValueError` or `TypeError` (`is_method`) for anything else.
pub(crate) fn encoded_bytes<'py>(object: &Bound<'py, PyAny>, is_method: bool) -> PyResult<Payload<'py>> {
    if let Ok(bytes) = Bytes::borrow(object, "data") {
        return Ok(Payload::Bytes(bytes));
    }
    if let Some(bytes) = numbers(object)? {
        return Ok(Payload::Bytes(bytes));
    }
    let text = format!("pre-encoded data requires bytes data (got {})", object.get_type().name()?);
    Err(if is_method { PyTypeError::new_err(text) } else { PyValueError::new_err(text) })
}
