//! `tgm create`: messages from `.npy` files and bare values.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::Args;
use tgm_convert::arrays::Bools;
use tgm_convert::raw::Form;
use tgm_std::encode::{GrowingMessage, Part, PartError};
use tgm_std::{AppendOptions, DataObjectDescriptor, EncodeOptions, TensogramFile};

use crate::args::RARE;
use crate::args::encode_flags::EncodeFlags;
use crate::args::files::usage;
use crate::args::metadata_flags::{Described, MetadataFlags};
use crate::args::pipeline_flags::PipelineFlags;
use crate::commands::{Run, examples};
use crate::read::messages::expect_all;
use crate::read::tensor_input::{Tensor, is_npy, read};
use crate::show::output::Out;
use crate::show::progress::meter::Share;
use crate::write::destination::{Destination, Failure, OutputKind, Reads, report};
use crate::write::same_file::is_stdio;
use crate::write::spill::Spill;
use tgm_std::file::SourceName;

/// Make a message from .npy files and files of bare values
///
/// Every input becomes an object of one message, in the order given. Values keep their type and byte order. Arrays in
/// Fortran order are transposed. Truth values become a bitmask, which extract turns back into truth values. OUT appears
/// when it is complete; on an error it stays as it was.
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(after_help = examples(&[
    ("tgm create values.npy -o out.tgm -s mars.param=2t,mars.step=6", "a message from an array"),
    ("tgm create values.npy -o out.tgm --max-error 0.01 --compression szip", "packed, with a bound of the error"),
]))]
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
    raw: Vec<Form>,
    /// Store truth values as uint8 numbers: a bitmask takes no stages for numbers
    #[arg(long, help_heading = RARE)]
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
                self.output.write(out, OutputKind::Messages, reads, |_, sink| {
                    self.messages(|message| Ok(sink.write_all(&message)?))
                });
            }
            Some(path) if self.output.prepare(out, OutputKind::Messages, reads) => {
                if let Err(failure) = self.append(path) {
                    report(&self.output, out, failure);
                }
            }
            Some(_) => {}
        }
        self.pipeline.tell_rounding(out);
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

    /// Appends all messages after all are made.
    fn append(&self, path: &Path) -> Result<(), Failure> {
        let place = SourceName::of(path).to_string();
        let open = || {
            let file = if path.exists() { TensogramFile::open(path) } else { TensogramFile::create(path) };
            file.map_err(Failure::at(&*place))
        };
        let how = AppendOptions::default();
        if !self.each {
            return self.messages(|message| {
                let appended = open()?.append_message(&message, &how);
                appended.map(drop).map_err(Failure::at(&*place))
            });
        }
        let mut made = Spill::beside(path)?;
        self.messages(|message| Ok(made.add(&message)?))?;
        let mut file = open()?;
        let mut appender = file.appender(&how).map_err(Failure::at(&*place))?;
        made.for_each(|message| appender.append_message(message).map(drop).map_err(Failure::at(&*place)))?;
        appender.flush().map_err(Failure::at(&*place))
    }

    /// Makes the messages one by one.
    fn messages(&self, mut sink: impl FnMut(Vec<u8>) -> Result<(), Failure>) -> Result<(), Failure> {
        let described = self.metadata.read(self.inputs.len())?;
        expect_all(&self.inputs);
        let progress = Share::new(Some(0));
        let mut forms = Forms { forms: &self.raw, used: 0 };
        let options = self.encode.options();
        // Inputs wait until there are enough of them for several threads. Then their objects are made.
        let (mut message, mut pending, mut bytes) = (GrowingMessage::new(&options), Vec::new(), 0);
        for (index, path) in self.inputs.iter().enumerate() {
            let tensor = self.load(path, &mut forms)?;
            bytes += tensor.data.len();
            pending.push(tensor);
            progress.advance(fs::metadata(path).map_or(0, |metadata| metadata.len()));
            if self.each || bytes >= PENDING {
                self.add(&mut message, index + 1 - pending.len(), &std::mem::take(&mut pending), &options)?;
                bytes = 0;
            }
            if self.each {
                let made = std::mem::replace(&mut message, GrowingMessage::new(&options));
                sink(self.finish(made, &described, index..index + 1)?)?;
            }
        }
        forms.finish()?;
        if !self.each {
            let inputs = self.inputs.len();
            self.add(&mut message, inputs - pending.len(), &pending, &options)?;
            drop(pending);
            sink(self.finish(message, &described, 0..inputs)?)?;
        }
        Ok(())
    }

    fn load(&self, path: &Path, forms: &mut Forms<'_>) -> Result<Tensor, Failure> {
        let place = SourceName::of(path).to_string();
        let bytes = read(path).map_err(Failure::at(&*place))?;
        let bools = if self.no_bitmask { Bools::Uint8 } else { Bools::Bitmask };
        let tensor = if is_npy(&bytes) {
            Tensor::from_npy(bytes, bools)
        } else {
            Tensor::from_raw(bytes, forms.next(&place)?, bools)
        };
        tensor.map_err(Failure::at(place))
    }

    /// The place of an error: the message with the input of number `first`, and an object of it.
    fn place(&self, first: usize, object: Option<usize>) -> String {
        let message = format!("{}: message {}", self.output, if self.each { first } else { 0 });
        let input = object.and_then(|object| Some((object, self.inputs.get(first + object)?)));
        input
            .map_or(message.clone(), |(object, input)| format!("{}: {message}, object {object}", SourceName::of(input)))
    }

    /// Adds the inputs from number `first` on to their message.
    fn add(
        &self,
        message: &mut GrowingMessage,
        first: usize,
        tensors: &[Tensor],
        options: &EncodeOptions,
    ) -> Result<(), Failure> {
        let (count, start) = (message.object_count(), first - message.object_count());
        let staged: Vec<(DataObjectDescriptor, Cow<'_, [u8]>)> = tensors
            .iter()
            .enumerate()
            .map(|(index, tensor)| {
                let staged = self.pipeline.apply(tensor.descriptor.clone(), Cow::Borrowed(&tensor.data), options);
                staged.map_err(Failure::at(self.place(start, Some(count + index))))
            })
            .collect::<Result<_, _>>()?;
        let parts: Vec<_> = staged.iter().map(|(descriptor, data)| Part::Values(descriptor, data, options)).collect();
        let added = message.add(&parts);
        added.map_err(|PartError { object_index, error }| Failure::At(self.place(start, object_index), error))
    }

    /// The message that holds the inputs of these numbers.
    fn finish(&self, message: GrowingMessage, described: &Described, inputs: Range<usize>) -> Result<Vec<u8>, Failure> {
        let start = inputs.start;
        let metadata = described.of(inputs).map_err(|text| Failure::said(self.place(start, None), text))?;
        let made = message.finish(&metadata);
        made.map_err(|PartError { object_index, error }| Failure::At(self.place(start, object_index), error))
    }
}

/// Bytes of inputs that wait to be encoded together, on several threads.
const PENDING: usize = 16 << 20;

/// The forms of bare inputs: one for all, or one for each.
struct Forms<'a> {
    forms: &'a [Form],
    used: usize,
}

impl<'a> Forms<'a> {
    fn next(&mut self, place: &str) -> Result<&'a Form, Failure> {
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
