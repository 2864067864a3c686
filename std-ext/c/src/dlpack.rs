//! Objects as tensors of `DLPack` 1.0, the structs by which libraries of arrays exchange memory.
//!
//! `dlpack.h` defines the layouts and numbers. A tensor owns all that its pointers lead to, except a buffer of the
//! caller.

use std::ffi::c_void;
use std::sync::Arc;

use tgm_std::{Archive, Dtype};

use crate::archive_object::ObjectHandle;
use crate::args;
use crate::call::{call, run};
use crate::error::{Code, ENCODING, Failure, Report, Result, invalid};
use crate::request::{ReadRequest, Request, asked, in_place};

/// A `DLManagedTensorVersioned`.
#[repr(C)]
#[derive(Debug)]
pub struct ManagedTensor {
    version: [u32; 2],
    /// The [`Owner`] of this tensor.
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Self)>,
    flags: u64,
    tensor: Tensor,
}

/// A `DLTensor`.
#[repr(C)]
#[derive(Debug)]
struct Tensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    dtype: DataType,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// A `DLDataType`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct DataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

const VERSION: [u32; 2] = [1, 0];
/// `kDLCPU`.
const CPU: i32 = 1;
/// `DLPACK_FLAG_BITMASK_READ_ONLY`: the values lie in the message.
const READ_ONLY: u64 = 1;
/// `DLPACK_FLAG_BITMASK_IS_COPIED`: the values were decoded.
const COPIED: u64 = 2;
/// The alignment that `DLPack` asks for.
const ALIGN: usize = 256;

/// A tensor with the memory that it refers to.
struct Owner {
    tensor: ManagedTensor,
    shape: Vec<i64>,
    strides: Vec<i64>,
    memory: Memory,
}

/// Where the values are.
enum Memory {
    /// In the archive, which stays open.
    Message { _archive: Arc<Archive<'static>> },
    /// In memory of the tensor, from the first aligned byte on.
    Decoded(Vec<u8>),
}

/// The failure of an object that has no form in `DLPack`.
fn refused(why: &str) -> Failure {
    Report::new(ENCODING, format!("no tensor of DLPack: {why}")).into()
}

fn data_type(dtype: Dtype) -> Result<DataType> {
    let code = match dtype {
        Dtype::Int8 | Dtype::Int16 | Dtype::Int32 | Dtype::Int64 => 0,
        Dtype::Uint8 | Dtype::Uint16 | Dtype::Uint32 | Dtype::Uint64 => 1,
        Dtype::Float16 | Dtype::Float32 | Dtype::Float64 => 2,
        Dtype::Bfloat16 => 4,
        Dtype::Complex64 | Dtype::Complex128 => 5,
        Dtype::Bitmask => return Err(refused("it has no bits as elements")),
    };
    let bits = u8::try_from(dtype.byte_width() * 8).map_err(|_| Report::internal())?;
    Ok(DataType { code, bits, lanes: 1 })
}

/// The dimensions, and the elements from one to the next in each: row-major.
fn shape_of(dims: &[u64]) -> Result<(Vec<i64>, Vec<i64>)> {
    let shape = dims.iter().map(|dim| i64::try_from(*dim).map_err(|_| refused("a dimension is too long")));
    let shape: Vec<i64> = shape.collect::<Result<_>>()?;
    let mut stride = 1_i64;
    let mut strides = vec![stride; shape.len()];
    for (slot, dim) in strides.iter_mut().zip(&shape).rev() {
        *slot = stride;
        stride = stride.saturating_mul(*dim);
    }
    Ok((shape, strides))
}

impl Owner {
    /// A tensor for the caller, who owns it. `data` leads to the values if they lie in the message.
    fn give(dtype: Dtype, dims: &[u64], data: *const c_void, memory: Memory) -> Result<*mut ManagedTensor> {
        let dtype = data_type(dtype)?;
        let (shape, strides) = shape_of(dims)?;
        let ndim = i32::try_from(shape.len()).map_err(|_| refused("it has too many dimensions"))?;
        let tensor = Tensor {
            data: data.cast_mut(),
            device_type: CPU,
            device_id: 0,
            ndim,
            dtype,
            shape: std::ptr::null_mut(),
            strides: std::ptr::null_mut(),
            byte_offset: 0,
        };
        let flags = if matches!(memory, Memory::Decoded(_)) { COPIED } else { READ_ONLY };
        let tensor =
            ManagedTensor { version: VERSION, manager: std::ptr::null_mut(), deleter: Some(delete), flags, tensor };
        let owner = Box::leak(Box::new(Self { tensor, shape, strides, memory }));
        owner.tensor.tensor.shape = owner.shape.as_mut_ptr();
        owner.tensor.tensor.strides = owner.strides.as_mut_ptr();
        if let Memory::Decoded(values) = &mut owner.memory {
            owner.tensor.tensor.data = aligned(values).as_mut_ptr().cast();
        }
        let owner = std::ptr::from_mut(owner);
        // SAFETY: the owner was made just now, and no reference to it is left. It lives until it is deleted.
        unsafe {
            (*owner).tensor.manager = owner.cast();
            Ok(&raw mut (*owner).tensor)
        }
    }
}

/// The bytes from the first aligned one on. There are fewer than [`ALIGN`] before it.
fn aligned(memory: &mut [u8]) -> &mut [u8] {
    let skipped = memory.as_ptr().addr().wrapping_neg() % ALIGN;
    memory.get_mut(skipped..).unwrap_or_default()
}

/// The deleter of every tensor of this library.
unsafe extern "C" fn delete(tensor: *mut ManagedTensor) {
    run(|| {
        // SAFETY: DLPack's contract: the deleter gets its own tensor, once. NULL is ignored. The manager is the owner.
        if let Some(tensor) = unsafe { tensor.as_ref() } {
            let owner = tensor.manager.cast::<Owner>();
            // SAFETY: as above; the owner comes from a box.
            unsafe { args::free(owner) };
        }
    });
}

/// The values of a request as a tensor: where they lie, or in memory of its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_read_dlpack(
    object: *const ObjectHandle,
    request: *const ReadRequest,
    copy: i32,
    out: *mut *mut ManagedTensor,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let ((handle, mut request), out) = unsafe { (asked(object, request)?, args::place(out)?) };
        // A tensor has no byte order of its own.
        request.options.native_byte_order = true;
        data_type(handle.object().dtype())?;
        out.put(match copy {
            NEVER => borrowed(handle, &request)?,
            // What is gathered from a message is not gathered twice.
            AS_NEEDED if request.is_whole() => match borrowed(handle, &request) {
                Ok(tensor) => tensor,
                Err(_) => decoded(handle, &request)?,
            },
            AS_NEEDED | ALWAYS => decoded(handle, &request)?,
            other => return Err(invalid(format!("unknown copy: {other}"))),
        });
        Ok(())
    })
}

/// The values of `copy`, as in protocols of arrays.
const AS_NEEDED: i32 = 0;
const ALWAYS: i32 = 1;
const NEVER: i32 = -1;

/// A tensor that borrows its values from the archive.
fn borrowed(handle: &ObjectHandle, request: &Request) -> Result<*mut ManagedTensor> {
    let (dtype, shape) = (handle.object().dtype(), request.extent(handle.object())?.shape);
    let values = in_place(handle, request)?.as_ptr();
    if !values.addr().is_multiple_of(dtype.byte_width().clamp(1, align_of::<u64>())) {
        return Err(refused("the values are not aligned"));
    }
    Owner::give(dtype, &shape, values.cast(), Memory::Message { _archive: handle.archive() })
}

/// A tensor with values in memory of its own.
#[allow(clippy::redundant_closure_for_method_calls, reason = "as a path, the method would be of one lifetime")]
fn decoded(handle: &ObjectHandle, request: &Request) -> Result<*mut ManagedTensor> {
    let extent = request.extent(handle.object())?;
    request.options.limits.check_bytes(u64::MAX, extent.size as u64)?;
    let mut memory = Vec::new();
    let room = extent.size.saturating_add(ALIGN);
    memory.try_reserve_exact(room).map_err(|_| Report::new(ENCODING, "out of memory"))?;
    memory.resize(room, 0);
    let place = aligned(&mut memory).get_mut(..extent.size).ok_or_else(Report::internal)?;
    request.read_into(handle, place, |read, out| read.bytes_into(out))?;
    Owner::give(handle.object().dtype(), &extent.shape, std::ptr::null(), Memory::Decoded(memory))
}
