//! Functions that read and write with either library, by the names that both share.

/// Functions that read with library `$lib`.
macro_rules! readers {
    ($lib:ident) => {
        use $crate::plain::{Answer, BoolMasks, Decoded, DecodedWithMasks, Refusal, caught, show_entries};

        fn metadata_text(metadata: &$lib::GlobalMetadata) -> String {
            let base: Vec<_> = metadata.base.iter().map(show_entries).collect();
            format!("{base:#?} {} {}", show_entries(&metadata.reserved), show_entries(&metadata.extra))
        }

        fn descriptor_text(descriptor: &$lib::DataObjectDescriptor) -> String {
            let d = descriptor;
            let mask = |mask: &Option<$lib::MaskDescriptor>| {
                mask.as_ref().map(|m| format!("{} {} {} {}", m.method, m.offset, m.length, show_entries(&m.params)))
            };
            let masks = d.masks.as_ref().map(|m| [mask(&m.nan), mask(&m.pos_inf), mask(&m.neg_inf)]);
            format!(
                "{:?} {} {:?} {:?} {:?} {:?} {} {} {} {masks:?} {}",
                d.obj_type,
                d.ndim,
                d.shape,
                d.strides,
                d.dtype,
                d.byte_order,
                d.encoding,
                d.filter,
                d.compression,
                show_entries(&d.params)
            )
        }

        fn refused(error: $lib::TensogramError) -> Refusal {
            Refusal::new(&error)
        }

        /// All objects.
        pub fn decode(bytes: &[u8], options: &$lib::DecodeOptions) -> Answer<Decoded> {
            caught(|| {
                let (metadata, objects) = $lib::decode(bytes, options).map_err(refused)?;
                let objects = objects.into_iter().map(|(descriptor, values)| (descriptor_text(&descriptor), values));
                Ok(Decoded { metadata: metadata_text(&metadata), objects: objects.collect() })
            })
        }

        /// One object.
        pub fn decode_object(bytes: &[u8], index: usize, options: &$lib::DecodeOptions) -> Answer<Decoded> {
            caught(|| {
                let (metadata, descriptor, values) = $lib::decode_object(bytes, index, options).map_err(refused)?;
                let objects = vec![(descriptor_text(&descriptor), values)];
                Ok(Decoded { metadata: metadata_text(&metadata), objects })
            })
        }

        /// All objects, with their masks apart.
        pub fn decode_with_masks(bytes: &[u8], options: &$lib::DecodeOptions) -> Answer<DecodedWithMasks> {
            caught(|| {
                let (metadata, objects) = $lib::decode_with_masks(bytes, options).map_err(refused)?;
                let objects = objects.into_iter().map(|object| {
                    let masks: BoolMasks = [object.masks.nan, object.masks.pos_inf, object.masks.neg_inf];
                    (descriptor_text(&object.descriptor), object.payload, masks)
                });
                Ok(DecodedWithMasks { metadata: metadata_text(&metadata), objects: objects.collect() })
            })
        }

        /// The metadata of the first metadata frame.
        pub fn decode_metadata(bytes: &[u8]) -> Answer<String> {
            caught(|| Ok(metadata_text(&$lib::decode_metadata(bytes).map_err(refused)?)))
        }

        /// Metadata and descriptors.
        pub fn decode_descriptors(bytes: &[u8]) -> Answer<Decoded> {
            caught(|| {
                let (metadata, descriptors) = $lib::decode_descriptors(bytes).map_err(refused)?;
                let objects = descriptors.iter().map(|descriptor| (descriptor_text(descriptor), Vec::new()));
                Ok(Decoded { metadata: metadata_text(&metadata), objects: objects.collect() })
            })
        }

        /// Objects by the lazy iterator.
        pub fn objects(bytes: &[u8], options: &$lib::DecodeOptions) -> Answer<Vec<(String, Vec<u8>)>> {
            caught(|| {
                let objects = $lib::objects(bytes, options.clone()).map_err(refused)?;
                let objects = objects.map(|object| {
                    let (descriptor, values) = object.map_err(refused)?;
                    Ok((descriptor_text(&descriptor), values))
                });
                objects.collect()
            })
        }

        /// Ranges of elements of one object.
        pub fn decode_range(
            bytes: &[u8],
            index: usize,
            ranges: &[(u64, u64)],
            options: &$lib::DecodeOptions,
        ) -> Answer<(String, Vec<Vec<u8>>)> {
            caught(|| {
                let (descriptor, parts) = $lib::decode_range(bytes, index, ranges, options).map_err(refused)?;
                Ok((descriptor_text(&descriptor), parts))
            })
        }

        /// Offset and length of each message.
        pub fn scan(bytes: &[u8]) -> Vec<(usize, usize)> {
            $lib::scan(bytes)
        }

        /// The digests that the frames of objects hold.
        pub fn inline_hashes(bytes: &[u8]) -> Answer<Vec<Option<u64>>> {
            caught(|| $lib::data_object_inline_hashes(bytes).map_err(refused))
        }
    };
}

/// Functions that write with library `$lib`.
macro_rules! writers {
    ($lib:ident) => {
        use $crate::case::{Aggregate, Case, Flaw, Method, Object, Options, Stage};
        use $crate::values::{Dtype, Order};

        fn dtype(dtype: Dtype) -> $lib::Dtype {
            match dtype {
                Dtype::Float16 => $lib::Dtype::Float16,
                Dtype::Bfloat16 => $lib::Dtype::Bfloat16,
                Dtype::Float32 => $lib::Dtype::Float32,
                Dtype::Float64 => $lib::Dtype::Float64,
                Dtype::Complex64 => $lib::Dtype::Complex64,
                Dtype::Complex128 => $lib::Dtype::Complex128,
                Dtype::Int8 => $lib::Dtype::Int8,
                Dtype::Int16 => $lib::Dtype::Int16,
                Dtype::Int32 => $lib::Dtype::Int32,
                Dtype::Int64 => $lib::Dtype::Int64,
                Dtype::Uint8 => $lib::Dtype::Uint8,
                Dtype::Uint16 => $lib::Dtype::Uint16,
                Dtype::Uint32 => $lib::Dtype::Uint32,
                Dtype::Uint64 => $lib::Dtype::Uint64,
                Dtype::Bitmask => $lib::Dtype::Bitmask,
            }
        }

        /// The descriptor that the encoder is given.
        pub fn descriptor(object: &Object) -> $lib::DataObjectDescriptor {
            let name = |stage: Stage, name: &str| match &object.flaw {
                Some(Flaw::Name(spoilt, other)) if *spoilt == stage => other.clone(),
                _ => name.to_owned(),
            };
            $lib::DataObjectDescriptor {
                obj_type: object.obj_type.clone(),
                ndim: object.shape.len() as u64 + u64::from(matches!(object.flaw, Some(Flaw::Ndim))),
                shape: object.shape.clone(),
                strides: object.strides.clone(),
                dtype: dtype(object.dtype),
                byte_order: match object.order {
                    Order::Little => $lib::ByteOrder::Little,
                    Order::Big => $lib::ByteOrder::Big,
                },
                encoding: name(Stage::Encoding, object.encoding_name()),
                filter: name(Stage::Filter, object.filter_name()),
                compression: name(Stage::Compression, object.compression.name()),
                masks: None,
                params: object.params(),
            }
        }

        /// The metadata that the encoder is given.
        pub fn metadata(case: &Case) -> $lib::GlobalMetadata {
            $lib::GlobalMetadata { base: case.base.clone(), extra: case.extra.clone(), ..Default::default() }
        }

        fn method(method: Method) -> $lib::MaskMethod {
            match method {
                Method::None => $lib::MaskMethod::None,
                Method::Rle => $lib::MaskMethod::Rle,
                Method::Roaring => $lib::MaskMethod::Roaring,
                Method::Lz4 => $lib::MaskMethod::Lz4,
                Method::Zstd(level) => $lib::MaskMethod::Zstd { level },
                Method::Blosc2(codec, level) => blosc2_method(codec, level),
            }
        }

        /// The options that the encoder is given.
        pub fn options(options: &Options) -> $lib::EncodeOptions {
            let [nan, pos_inf, neg_inf] = options.methods.map(method);
            $lib::EncodeOptions {
                hashing: options.hashing,
                allow_nan: options.allow_nan,
                allow_inf: options.allow_inf,
                nan_mask_method: nan,
                pos_inf_mask_method: pos_inf,
                neg_inf_mask_method: neg_inf,
                small_mask_threshold_bytes: options.small_mask_threshold,
                aggregate_hash: match options.aggregate {
                    Aggregate::Auto => $lib::AggregateHashPolicy::Auto,
                    Aggregate::None => $lib::AggregateHashPolicy::None,
                    Aggregate::Header => $lib::AggregateHashPolicy::Header,
                    Aggregate::Footer => $lib::AggregateHashPolicy::Footer,
                    Aggregate::Both => $lib::AggregateHashPolicy::Both,
                },
                ..Default::default()
            }
        }

        /// A buffered message.
        pub fn encode(case: &Case, data: &[Vec<u8>]) -> Answer<Vec<u8>> {
            encode_with(case, data, &options(&case.options))
        }

        /// A buffered message, written with these options.
        pub fn encode_with(case: &Case, data: &[Vec<u8>], options: &$lib::EncodeOptions) -> Answer<Vec<u8>> {
            caught(|| {
                let descriptors: Vec<_> = case.objects.iter().map(descriptor).collect();
                let objects: Vec<_> = descriptors.iter().zip(data.iter().map(Vec::as_slice)).collect();
                $lib::encode(&metadata(case), &objects, options).map_err(refused)
            })
        }

        /// A streamed message.
        pub fn stream(case: &Case, data: &[Vec<u8>]) -> Answer<Vec<u8>> {
            stream_with(case, data, &options(&case.options))
        }

        /// A streamed message, written with these options.
        pub fn stream_with(case: &Case, data: &[Vec<u8>], options: &$lib::EncodeOptions) -> Answer<Vec<u8>> {
            caught(|| {
                let mut encoder = $lib::StreamingEncoder::new(Vec::new(), &metadata(case), options).map_err(refused)?;
                for (object, data) in case.objects.iter().zip(data) {
                    if let Some(entries) = &object.preceder {
                        encoder.write_preceder(entries.clone()).map_err(refused)?;
                    }
                    encoder.write_object(&descriptor(object), data).map_err(refused)?;
                }
                encoder.finish().map_err(refused)
            })
        }

        /// Writes the objects of `message` again, with payloads and masks unchanged.
        pub fn rewrite(case: &Case, message: &[u8], options: &$lib::EncodeOptions) -> Answer<Vec<u8>> {
            caught(|| {
                let (_, descriptors) = $lib::decode_descriptors(message).map_err(refused)?;
                let view = tgm_std::core::Message::parse(message).expect("a message");
                let regions = view.objects().map(|object| object.expect("an object").region());
                let objects: Vec<_> = descriptors.iter().zip(regions).collect();
                $lib::encode_pre_encoded(&metadata(case), &objects, options).map_err(refused)
            })
        }
    };
}

pub(crate) use {readers, writers};
