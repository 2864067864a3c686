//! The local part of section 1: what centres have after octet 40.
//!
//! | octets | ECMWF, also as a sub-centre; Japan; Spain | Sweden |
//! |---|---|---|
//! | 41 | number of the definition | the same |
//! | 42, 43, 44 and 45 | class, type, stream | the same, by other tables |
//! | 46 to 49 | version of the experiment | the same |
//! | 50 on | what the definition has | 52: model |

use ciborium::Value;

use super::super::super::entries::{Entries, add};
use super::super::super::labels::Labels;
use super::super::super::names::ECMWF;
use super::super::super::product::{Key, Product};
use super::super::super::sections::Section;
use super::super::super::tables::{self, Group, layout};
use super::time::date;

/// Sections of this length have no local part.
const LEN_WITHOUT: usize = 40;
/// The octet of the number of the definition.
const DEFINITION: usize = 41;
/// What tables call a definition: its number and this.
const LOCAL: u16 = 61000;
/// Waves have forms of their definition, by a flag.
const WAVES: u16 = 13;
const FORMS_OF_WAVES: u16 = 61130;
const FLAG_OF_WAVES: usize = 64;
const LAST_FLAG: u16 = 4;
/// The ocean has two, by the stream.
const OCEAN: u16 = 4;
const OTHER_OCEAN: u16 = 61400;
const STREAM_OF_OCEAN: u16 = 1090;
/// Several definitions in one. The labels of the first one count.
const SEVERAL: u16 = 190;
/// Two in one, with labels of its own. Tables have the form of a member of an ensemble (1) with a satellite (24).
const PAIR: u16 = 192;
const NUMBERS_OF_PAIR: [(usize, u8); 3] = [(52, 2), (55, 1), (69, 24)];
/// Centres (common code table C-1).
const JAPAN: u16 = 34;
const SWEDEN: u16 = 82;
const SPAIN: u16 = 214;
/// Definitions of Sweden.
const OF_SWEDEN: [u8; 2] = [82, 83];
const WITH_AEROSOLS: u8 = 83;
/// Definitions of Spain that have labels.
const OF_SPAIN: [u16; 3] = [1, 244, 245];

/// What the local part says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super::super) enum LocalPart {
    /// Labels, and rules by the stream and the type.
    Ecmwf(Labels),
    /// Labels alone.
    Labels(Labels),
    Smhi(Smhi),
}

/// What Sweden has: codes, and the version of the experiment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super::super) struct Smhi {
    class: u8,
    kind: u8,
    stream: u16,
    version: [u8; 4],
    model: u8,
    /// What a second definition has of aerosols.
    aerosol: Option<Aerosol>,
}

/// Codes of a model of air quality.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Aerosol {
    sort: u8,
    time: u8,
    land: u8,
    bin: u16,
}

impl LocalPart {
    /// Reads it, and adds its numbers to the facts.
    pub(super) fn read(section: Section<'_>, (centre, sub_centre): (u16, u16), product: &mut Product) -> Option<Self> {
        if section.as_bytes().len() <= LEN_WITHOUT {
            return None;
        }
        let definition = section.u8(DEFINITION).ok()?.into();
        match (centre, sub_centre) {
            (ECMWF, _) | (_, ECMWF) => {
                let labels = ecmwf(section, definition, product)?;
                Some(Self::Ecmwf(labels))
            }
            (JAPAN, _) if definition == 1 => ecmwf(section, definition, product).map(Self::Ecmwf),
            (SPAIN, _) if OF_SPAIN.contains(&definition) => {
                labels(section, definition, DEFINITION + 1).map(Self::Labels)
            }
            (SWEDEN, _) => Smhi::read(section).map(Self::Smhi),
            _ => None,
        }
    }

    /// Class, type, stream and version of ECMWF's archive.
    pub(in super::super::super) const fn labels(&self) -> Option<Labels> {
        match self {
            Self::Ecmwf(labels) | Self::Labels(labels) => Some(*labels),
            Self::Smhi(_) => None,
        }
    }

    /// Whether it has coordinates of the ocean.
    pub(super) const fn is_ocean(&self) -> bool {
        matches!(self, Self::Ecmwf(Labels { definition: OCEAN, .. }))
    }
}

/// Reads a definition of ECMWF. `None` for a number that no definition has.
fn ecmwf(section: Section<'_>, definition: u16, product: &mut Product) -> Option<Labels> {
    let (first, own) = inner(section, definition).unwrap_or((DEFINITION + 1, definition));
    let labels = labels(section, definition, first)?;
    product.set(Key::Grib2LocalSectionNumber, definition);
    product.set(Key::MarsClass, labels.class);
    product.set(Key::Type, labels.kind);
    product.set(Key::Stream, labels.stream);
    let form = match own {
        WAVES => {
            let flag = section.u8(FLAG_OF_WAVES).map_or(0, u16::from);
            FORMS_OF_WAVES + if flag <= LAST_FLAG { flag } else { 0 }
        }
        OCEAN if labels.stream != STREAM_OF_OCEAN => OTHER_OCEAN,
        own => LOCAL + own,
    };
    let fields = layout(form)?;
    if own == PAIR && NUMBERS_OF_PAIR.iter().any(|(octet, number)| section.u8(*octet).ok() != Some(*number)) {
        return Some(labels);
    }
    // Octets that are not there give no keys: archives need the labels alone.
    let _ = product.read(section, labels.end, fields);
    let analysis = [Key::CenturyOfAnalysis, Key::YearOfAnalysis, Key::MonthOfAnalysis, Key::DayOfAnalysis];
    if let [Some(century), Some(year), Some(month), Some(day)] = analysis.map(|key| product.raw(key)) {
        product.set(Key::YearOfAnalysis, date(century, [year, month, day]).year());
    }
    Some(labels)
}

/// Where the labels of the first of several definitions are, and its number.
fn inner(section: Section<'_>, definition: u16) -> Option<(usize, u16)> {
    /// How many there are, and the number of the first; after each stands a length.
    const COUNT: usize = 52;
    const NUMBER: usize = 53;
    let count = usize::from(section.u8(COUNT).ok().filter(|count| definition == SEVERAL && (1..=2).contains(count))?);
    Some((NUMBER + 3 * count, section.u8(NUMBER).ok()?.into()))
}

fn labels(section: Section<'_>, definition: u16, octet: usize) -> Option<Labels> {
    Some(Labels {
        definition,
        class: section.u8(octet).ok()?.into(),
        kind: section.u8(octet + 1).ok()?.into(),
        stream: section.u16(octet + 2).ok()?,
        version: section.array(octet + 4).ok()?,
        end: octet + 8,
    })
}

impl Smhi {
    fn read(section: Section<'_>) -> Option<Self> {
        let first = DEFINITION + 1;
        let definition = section.u8(DEFINITION).ok().filter(|definition| OF_SWEDEN.contains(definition))?;
        Some(Self {
            class: section.u8(first).ok()?,
            kind: section.u8(first + 1).ok()?,
            stream: section.u16(first + 2).ok()?,
            version: section.array(first + 4).ok()?,
            model: section.u8(first + 10).ok()?,
            aerosol: if definition == WITH_AEROSOLS { Aerosol::read(section, first + 11) } else { None },
        })
    }

    pub(in super::super::super) fn add(self, mars: &mut Entries) {
        let codes = [
            ("class", Group::SMHI_CLASS, self.class.into()),
            ("type", Group::SMHI_TYPE, self.kind.into()),
            ("stream", Group::SMHI_STREAM, self.stream),
            ("model", Group::SMHI_MODEL, self.model.into()),
        ];
        for (key, concept, code) in codes {
            add(mars, key, Some(tables::text(concept, code).map_or_else(|| code.into(), Value::from)));
        }
        let is_text = self.version.iter().all(u8::is_ascii_graphic);
        add(mars, "expver", is_text.then(|| String::from_utf8_lossy(&self.version).into_owned()));
        add(mars, "domain", Some("g"));
        if let Some(aerosol) = self.aerosol {
            add(mars, "sort", Some(aerosol.sort));
            add(mars, "timerepres", Some(aerosol.time));
            add(mars, "landtype", Some(aerosol.land));
            add(mars, "aerosolbinnumber", Some(aerosol.bin));
            let bins = [(0..=0, "0"), (1..=5, "1-5")].into_iter().find(|(bins, _)| bins.contains(&aerosol.bin));
            add(mars, "aerosolpacking", bins.map(|(_, name)| name));
        }
    }
}

impl Aerosol {
    fn read(section: Section<'_>, octet: usize) -> Option<Self> {
        Some(Self {
            sort: section.u8(octet).ok()?,
            time: section.u8(octet + 1).ok()?,
            land: section.u8(octet + 2).ok()?,
            bin: section.u16(octet + 3).ok()?,
        })
    }
}
