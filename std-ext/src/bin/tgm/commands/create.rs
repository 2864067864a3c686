//! `tgm create`: messages from `.npy` files and bare values.

use std::borrow::Cow;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::Args;
use tgm_std::encode::{Part, PartError, encode_parts};
use tgm_std::{AppendOptions, DataObjectDescriptor, TensogramFile};

use crate::args::encode_flags::EncodeFlags;
use crate::args::files::usage;
use crate::args::metadata_flags::{Described, MetadataFlags};
use crate::args::pipeline_flags::PipelineFlags;
use crate::commands::Run;
use crate::read::tensor_input::{RawForm, Tensor, is_npy, read};
use crate::show::output::{Manner, Out};
use crate::show::progress::Progress;
use crate::write::destination::{Destination, Failure, Reads, What, is_stdio, report};

/// Make a message from .npy files and files of bare values
///
/// Every input becomes an object of one message, in the order given. Values keep their type and byte order. Arrays in
/// Fortran order are transposed. Truth values become a bitmask, which extract turns back into truth values. OUT appears
/// when it is complete; on an error it stays as it was.
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Create {
    /// .npy files, or files of bare values described by --raw; "-" is standard input
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<PathBuf>,
    /// Where to write; "-" is standard output
    #[arg(short, visible_short_alias = 'O', long, value_name = "OUT")]
    output: Destination,
    /// Form of inputs that are no .npy files, once for all or once for each in their order: a dtype such as f32, uint8,
    /// bool, bitmask; a shape such as 181x360 or scalar; little, big or native
    #[arg(long, value_name = "DTYPE,SHAPE[,ORDER]")]
    raw: Vec<RawForm>,
    /// Store truth values as uint8 numbers: a bitmask takes no stages for numbers
    #[arg(long)]
    no_bitmask: bool,
    /// The default
    #[arg(long, hide = true, conflicts_with = "no_bitmask")]
    bitmask: bool,
    /// Make a message for every input
    #[arg(long)]
    each: bool,
    /// Append to OUT if the file exists, instead of replacing it
    #[arg(long)]
    append: bool,
    #[command(flatten)]
    metadata: MetadataFlags,
    #[command(flatten)]
    pipeline: PipelineFlags,
    #[command(flatten)]
    encode: EncodeFlags,
}

impl Run for Create {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        if let Err(text) = self.check() {
            usage(&text);
        }
        let read: Vec<_> = self.inputs.iter().chain(self.metadata.file()).cloned().collect();
        let reads = Reads::Only(&read);
        match self.output.path().filter(|_| self.append) {
            None => {
                self.output.write(out, What::Messages, reads, |out, sink| {
                    self.messages(out.manner(), |message| Ok(sink.write_all(&message)?))
                });
            }
            Some(path) if self.output.prepare(out, What::Messages, reads) => {
                if let Err(failure) = self.append(path, out.manner()) {
                    report(&self.output, out, failure);
                }
            }
            Some(_) => {}
        }
        Ok(())
    }
}

impl Create {
    fn check(&self) -> Result<(), String> {
        self.pipeline.check(true)?;
        if self.append && self.output.is_stdout() {
            return Err("--append needs a file to append to".into());
        }
        if self.inputs.iter().filter(|input| is_stdio(input)).count() > 1 {
            return Err("standard input can be read once only".into());
        }
        Ok(())
    }

    /// Appends all messages after all are made, one step each.
    fn append(&self, path: &Path, manner: Manner) -> Result<(), Failure> {
        let mut messages = Vec::new();
        self.messages(manner, |message| {
            messages.push(message);
            Ok(())
        })?;
        let place = path.display().to_string();
        let opened = if path.exists() { TensogramFile::open(path) } else { TensogramFile::create(path) };
        let mut file = opened.map_err(Failure::at(&*place))?;
        for message in &messages {
            file.append_message(message, &AppendOptions::default()).map_err(Failure::at(&*place))?;
        }
        Ok(())
    }

    /// Makes the messages one by one.
    fn messages(&self, manner: Manner, mut sink: impl FnMut(Vec<u8>) -> Result<(), Failure>) -> Result<(), Failure> {
        let described = self.metadata.read(self.inputs.len())?;
        let mut progress = Progress::new("create", self.inputs.len() as u64, manner);
        let mut forms = Forms { forms: &self.raw, used: 0 };
        let mut pending = Vec::new();
        for (index, path) in self.inputs.iter().enumerate() {
            pending.push(self.load(path, &mut forms)?);
            progress.advance(1);
            if self.each {
                sink(self.message(&described, index..index + 1, &std::mem::take(&mut pending))?)?;
            }
        }
        forms.finish()?;
        if !self.each {
            sink(self.message(&described, 0..self.inputs.len(), &pending)?)?;
        }
        Ok(())
    }

    fn load(&self, path: &Path, forms: &mut Forms<'_>) -> Result<Tensor, Failure> {
        let place = path.display().to_string();
        let bytes = read(path).map_err(Failure::at(&*place))?;
        let tensor = if is_npy(&bytes) {
            Tensor::from_npy(&bytes, !self.no_bitmask)
        } else {
            Tensor::from_raw(bytes, forms.next(&place)?, !self.no_bitmask)
        };
        tensor.map_err(Failure::at(place))
    }

    /// The message that holds the inputs of these numbers.
    fn message(&self, described: &Described, inputs: Range<usize>, tensors: &[Tensor]) -> Result<Vec<u8>, Failure> {
        let number = if self.each { inputs.start } else { 0 };
        let place = |object: Option<usize>| {
            let message = format!("{}: message {number}", self.output);
            let input = object.and_then(|object| Some((object, self.inputs.get(inputs.start + object)?)));
            input.map_or(message.clone(), |(object, input)| format!("{}: {message}, object {object}", input.display()))
        };
        let metadata = described.of(inputs.clone()).map_err(|text| Failure::said(place(None), text))?;
        let options = self.encode.options();
        let staged: Vec<(DataObjectDescriptor, Cow<'_, [u8]>)> = tensors
            .iter()
            .enumerate()
            .map(|(index, tensor)| {
                let staged = self.pipeline.apply(tensor.descriptor.clone(), Cow::Borrowed(&tensor.data), &options);
                staged.map_err(Failure::at(place(Some(index))))
            })
            .collect::<Result<_, _>>()?;
        let parts: Vec<_> = staged.iter().map(|(descriptor, data)| Part::Values(descriptor, data, &options)).collect();
        encode_parts(&metadata, &parts, &options)
            .map_err(|PartError { object_index, error }| Failure::At(place(object_index), error))
    }
}

/// The forms of bare inputs: one for all, or one for each.
struct Forms<'a> {
    forms: &'a [RawForm],
    used: usize,
}

impl<'a> Forms<'a> {
    fn next(&mut self, place: &str) -> Result<&'a RawForm, Failure> {
        let index = if self.forms.len() == 1 { 0 } else { self.used };
        self.used += 1;
        let text = if self.forms.is_empty() {
            "not a .npy file: --raw says what a file of bare values holds"
        } else {
            "there are fewer --raw than files of bare values"
        };
        self.forms.get(index).ok_or_else(|| Failure::said(place, text))
    }

    fn finish(&self) -> Result<(), Failure> {
        if self.forms.len() <= self.used {
            return Ok(());
        }
        let text = format!("given {} times, and {} inputs are no .npy files", self.forms.len(), self.used);
        Err(Failure::said("--raw", text))
    }
}
