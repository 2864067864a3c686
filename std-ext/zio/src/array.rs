//! Tensors as arrays of the crate `ndarray`, and out of them.

use ndarray::{ArrayD, ArrayView, ArrayViewD, Axis, CowArray, Dimension, IxDyn};
use tgm_core::descriptor::ByteOrder;
use tgm_core::tensor::Element;
use tgm_core::zerocopy::{FromBytes as _, IntoBytes as _};

use super::build::TensorBuilder;
use super::tensor::Tensor;
use crate::wire::{Error, ErrorKind as K};

impl Tensor<'_> {
    /// The tensor as an array, by its coordinates, whatever its storage order: strides are its own, and negative where
    /// it descends.
    ///
    /// Nothing is copied if the bytes are aligned and in this machine's byte order. Otherwise the array is a copy.
    ///
    /// # Errors
    /// [`K::DtypeMismatch`] if the elements are not `T`s; [`K::UnsupportedPacking`]; [`K::SizeOverflow`] for a shape
    /// that exceeds the integers of this machine.
    ///
    /// ```
    /// use ndarray::array;
    /// use tgm_std::ByteOrder;
    /// use tgm_zio::{Message, Tens};
    ///
    /// // Columns one after the other, from the last row to the first.
    /// let label = br#"ZIO0TENS{"TENS":{"tensors":[{"shape":[2,3],"word":1,"dtype":"u","order":[0,1],"ascend":[false,true]}]}}"#;
    /// let parts = [&label[..], &[0; 24], &[10, 0, 11, 1, 12, 2]];
    /// let message = Message::from_parts(&parts, ByteOrder::Little)?;
    /// let tens = Tens::parse(&message)?;
    /// let found = tens.tensors()[0].array::<u8>()?;
    /// assert_eq!((found.strides(), found.as_ptr()), (&[-1, 2][..], &parts[2][1] as *const u8));
    /// assert_eq!(found, array![[0, 1, 2], [10, 11, 12]].into_dyn());
    /// # Ok::<(), tgm_zio::Error>(())
    /// ```
    pub fn array<T: Element>(&self) -> Result<CowArray<'_, T, IxDyn>, Error> {
        let view = self.ordered_view::<T>()?;
        if let Some(array) = self.array_in_place() {
            return Ok(array.into());
        }
        let array = ArrayD::from_shape_vec(self.dims(self.shape())?, view.iter().collect());
        Ok(array.map_err(|_| K::SizeOverflow.of(self.index, "shape"))?.into())
    }

    /// The tensor in place: stored rows, then axes as the coordinates have them.
    fn array_in_place<T: Element>(&self) -> Option<ArrayViewD<'_, T>> {
        if self.byte_order() != ByteOrder::NATIVE && T::DTYPE.swap_unit_size() > 1 {
            return None;
        }
        let values = <[T]>::ref_from_bytes(self.bytes()).ok()?;
        let stored = ArrayViewD::from_shape(self.dims(self.stored_shape()).ok()?, values).ok()?;
        // Stored axis k, slowest first, is dimension d: so dimension d is axis k.
        let rank = self.shape().len();
        let mut axes = vec![0; rank];
        for (k, d) in self.layout().fastest_first().enumerate() {
            *axes.get_mut(d)? = rank.checked_sub(k.checked_add(1)?)?;
        }
        let mut array = stored.permuted_axes(IxDyn(&axes));
        let descending = self.ascend().into_iter().flatten().enumerate().filter(|(_, ascends)| !**ascends);
        descending.for_each(|(d, _)| array.invert_axis(Axis(d)));
        Some(array)
    }

    fn dims(&self, shape: &[u64]) -> Result<IxDyn, Error> {
        let dims = shape.iter().map(|dim| usize::try_from(*dim)).collect::<Result<Vec<_>, _>>();
        Ok(IxDyn(&dims.map_err(|_| K::SizeOverflow.of(self.index, "shape"))?))
    }
}

impl<'a> TensorBuilder<'a> {
    /// A tensor with the shape and the values of an array. Values in row-major order are not copied; others are copied
    /// once, because no known reader looks at a storage order.
    ///
    /// ```
    /// use ndarray::array;
    /// use tgm_zio::{TensBuilder, TensorBuilder};
    ///
    /// let field = array![[1.0_f32, 2.0], [3.0, 4.0]];
    /// let built = TensBuilder::new()
    ///     .tensor(TensorBuilder::from_array(field.view()))
    ///     .tensor(TensorBuilder::from_array(field.t()))
    ///     .build()?;
    /// assert_eq!(built.parts.payloads()[0].as_ptr(), field.as_ptr().cast());
    /// assert!(built.warnings.is_empty());
    /// # Ok::<(), tgm_zio::Error>(())
    /// ```
    #[expect(clippy::needless_pass_by_value, reason = "a view is as good as a reference, and easier to get")]
    pub fn from_array<T: Element, D: Dimension>(array: ArrayView<'a, T, D>) -> Self {
        let shape: Vec<u64> = array.shape().iter().map(|dim| *dim as u64).collect();
        if let Some(values) = array.to_slice() {
            return Self::new(&shape, values);
        }
        let values: Vec<T> = array.iter().copied().collect();
        Self::new::<T>(&shape, &[]).with_native(values.as_bytes().to_vec())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::cast_possible_wrap, reason = "tests may panic")]
mod tests {
    use ndarray::Array3;
    use tgm_core::descriptor::ByteOrder;

    use crate::{Message, Tens, TensBuilder, TensorBuilder};

    #[test]
    fn arrays_are_by_coordinates_in_any_storage_order() {
        let values: Vec<u16> = (0..24).collect();
        for order in [[2, 1, 0], [0, 1, 2], [2, 0, 1], [1, 2, 0], [0, 2, 1], [1, 0, 2]] {
            for flags in 0..8_u8 {
                let ascend = [0, 1, 2].map(|d| (flags >> d) & 1 == 0);
                for byte_order in [ByteOrder::Little, ByteOrder::Big] {
                    let tensor = TensorBuilder::new(&[3, 4, 2], &values).order(&order).ascend(&ascend);
                    let built = TensBuilder::new().byte_order(byte_order).tensor(tensor).build().unwrap();
                    let slices = built.parts.as_slices();
                    let message = Message::from_parts(&slices, byte_order).unwrap();
                    let tens = Tens::parse(&message).unwrap();
                    let tensor = &tens.tensors()[0];
                    let array = tensor.array::<u16>().unwrap();
                    let view = tensor.ordered_view::<u16>().unwrap();
                    assert_eq!(array.shape(), [3, 4, 2]);
                    assert!(array.iter().copied().eq(view.iter()), "{order:?} {ascend:?}");
                    if array.is_view() {
                        let strides: Vec<i64> = array.strides().iter().map(|stride| *stride as i64).collect();
                        assert_eq!(strides, tensor.strides());
                    }
                    assert_eq!(array.is_view(), byte_order == ByteOrder::NATIVE, "{order:?} {ascend:?}");
                }
            }
        }
    }

    #[test]
    fn arrays_that_are_not_rows_are_copied_into_rows() {
        let array = Array3::from_shape_fn((2, 3, 4), |(i, j, k)| (100 * i + 10 * j + k) as i64);
        for view in [array.view(), array.view().permuted_axes([2, 0, 1])] {
            let built = TensBuilder::new().tensor(TensorBuilder::from_array(view)).build().unwrap();
            assert_eq!(built.warnings, []);
            let slices = built.parts.as_slices();
            let message = Message::from_parts(&slices, ByteOrder::NATIVE).unwrap();
            let tens = Tens::parse(&message).unwrap();
            assert_eq!(tens.tensors()[0].array::<i64>().unwrap(), view.into_dyn());
        }
    }
}
