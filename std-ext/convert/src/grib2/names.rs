//! Names of parameters and kinds of data, as archives ask for them: those that ecCodes finds.

use super::data_sets::DataSet;
use super::product::{Key, Product};
use super::tables::{self, Group, TableEntry, Version};

/// Folders of definitions, in the order of the tables: the WMO's, then centres and data sets.
mod folder {
    pub(super) const MASTER: u8 = 0;
    pub(super) const ECMF: u8 = 1;
    pub(super) const CERISE: u8 = 2;
    pub(super) const CNMC: u8 = 3;
    pub(super) const DESTINE: u8 = 4;
    pub(super) const DESTINEGEN1: u8 = 5;
    pub(super) const EDZW: u8 = 6;
    pub(super) const EFKL: u8 = 7;
    pub(super) const EGRR: u8 = 8;
    pub(super) const EKMI: u8 = 9;
    pub(super) const ERA: u8 = 10;
    pub(super) const ERA6: u8 = 11;
    pub(super) const ESWI: u8 = 12;
    pub(super) const FIRE: u8 = 13;
    pub(super) const HYDRO: u8 = 14;
    pub(super) const HYDRO_LEGACY: u8 = 15;
    pub(super) const KWBC: u8 = 16;
    pub(super) const LCGCR: u8 = 17;
    pub(super) const LFPW: u8 = 18;
    pub(super) const NEXTGEMS: u8 = 20;
    pub(super) const S2S: u8 = 21;
    pub(super) const TIGGE: u8 = 22;
    pub(super) const UERRA: u8 = 23;
    pub(super) const WPMIP: u8 = 24;
    // Centres that have definitions of edition 1 alone.
    pub(super) const SBSJ: u8 = 25;
    pub(super) const RJTD: u8 = 26;
    pub(super) const ENMI: u8 = 27;
    pub(super) const EIDB: u8 = 28;
}

/// The centre whose tables ecCodes takes for all.
pub(super) const ECMWF: u16 = 98;
/// The highest version of the WMO's tables before ECMWF's migration.
const LAST_EARLIER: u8 = 33;
/// ECMWF's parameters of GRIB edition 1 have this discipline, the table as category, and their number.
const LOCAL: u8 = 192;
const MAIN_TABLE: u8 = 128;

/// What decides which definitions apply.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub(super) discipline: u8,
    pub(super) centre: u16,
    pub(super) sub_centre: u16,
    /// The version of the WMO's tables.
    pub(super) tables: u8,
    /// The production status (code table 1.3).
    pub(super) status: u8,
    /// The class of section 2, if it is there.
    pub(super) class: Option<u16>,
    /// The generation of a climate of Destination Earth.
    pub(super) generation: Option<u16>,
}

/// The definitions that apply to a field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names {
    /// The folders that are looked at first.
    folders: [u8; 2],
    pub(super) version: Version,
    discipline: u8,
}

impl Names {
    /// The definitions for a field.
    pub(super) fn of(origin: &Origin, product: &Product) -> Self {
        let data_set = data_set(origin);
        // A data set comes after the WMO's definitions, and a centre before them: the last of equals counts.
        let folders = match (data_set, centre(origin.centre)) {
            (Some(data_set), _) => [folder::MASTER, data_set],
            (None, Some(centre)) => [centre, folder::MASTER],
            (None, None) => [folder::MASTER, folder::MASTER],
        };
        let mut names = Self { folders, version: Version::Current, discipline: origin.discipline };
        names.version = names.version(origin, data_set, product);
        names
    }

    /// Which generation of definitions applies.
    fn version(self, origin: &Origin, data_set: Option<u8>, product: &Product) -> Version {
        const CLASSES_OF_CHEMISTRY: [u16; 2] = [19, 36];
        if let Some(found) = self.find(Group::of(Group::VERSION, 0), product) {
            return if found.number == 0 { Version::Earlier } else { Version::Current };
        }
        let by_tables = match data_set {
            Some(which) => matches!(
                which,
                folder::DESTINE
                    | folder::FIRE
                    | folder::HYDRO
                    | folder::NEXTGEMS
                    | folder::S2S
                    | folder::TIGGE
                    | folder::UERRA
            ),
            None => origin.centre == ECMWF,
        };
        if !(by_tables || origin.sub_centre == ECMWF) {
            Version::Current
        } else if origin.tables <= LAST_EARLIER {
            Version::Earlier
        } else if origin.class.is_some_and(|class| CLASSES_OF_CHEMISTRY.contains(&class)) {
            Version::Chemical
        } else {
            Version::Current
        }
    }

    /// What the definitions that apply say of a group.
    pub(super) fn find(&self, group: Group, product: &Product) -> Option<TableEntry> {
        tables::find(group, &self.folders, self.version, |key, number| product.holds(key, number))
    }

    /// The number of a chemical species in ECMWF's database.
    pub(super) fn chemical(&self, product: &Product) -> Option<u32> {
        let constituent = u16::try_from(product.raw(Key::ConstituentType)?).ok()?;
        self.find(Group::of(Group::CHEMICAL, constituent), product).map(|found| found.number)
    }

    /// The number of a parameter in ECMWF's database, and its short name. A parameter without a name has an empty one.
    ///
    /// Definitions are looked at in three steps: the centre's or the data set's, ECMWF's, and the legacy ones.
    pub(super) fn parameter(&self, product: &Product) -> Option<TableEntry> {
        let category = u8::try_from(product.raw(Key::ParameterCategory)?).ok()?;
        let number = u8::try_from(product.raw(Key::ParameterNumber)?).ok()?;
        let group = Group::parameter(self.discipline, category, number);
        self.find(group, product).or_else(|| self.of_ecmwf(group, product)).or_else(|| self.nameless(category, number))
    }

    /// What the definitions of ECMWF say of a parameter, and else the legacy ones.
    fn of_ecmwf(&self, group: Group, product: &Product) -> Option<TableEntry> {
        let folders = [folder::ECMF, folder::MASTER];
        let find = |version| tables::find(group, &folders, version, |key, number| product.holds(key, number));
        find(self.version).or_else(|| find(Version::Legacy))
    }

    /// A parameter of ECMWF without a name. Its number follows from the table.
    fn nameless(&self, category: u8, number: u8) -> Option<TableEntry> {
        let table = if category == MAIN_TABLE { 0 } else { u32::from(category) * 1000 };
        let is_known = self.discipline == LOCAL && tables::is_nameless(category, number);
        is_known.then_some(TableEntry { number: table + u32::from(number), text: "" })
    }
}

/// What edition 1 asks for.
impl Names {
    /// The definitions of edition 1 for a centre.
    pub(super) fn of_edition_1(centre: u16) -> Self {
        let folders = [centre_of_edition_1(centre).unwrap_or(folder::MASTER), folder::MASTER];
        Self { folders, version: Version::Current, discipline: LOCAL }
    }

    /// What the centre says of a group, and else what ECMWF says of it.
    pub(super) fn find_or_ecmwf(&self, group: Group, product: &Product) -> Option<TableEntry> {
        let ours = Self { folders: [folder::ECMF, folder::MASTER], ..*self };
        self.find(group, product).or_else(|| ours.find(group, product))
    }

    /// What the WMO says of a group, and what the centre, or else ECMWF, has instead.
    pub(super) fn find_instead(&self, group: Group, product: &Product) -> Option<TableEntry> {
        let [centre, all] = self.folders;
        let find = |folders| Self { folders, ..*self }.find(group, product);
        find([all, centre]).or_else(|| find([all, folder::ECMF]))
    }

    /// The number of a parameter in ECMWF's database, and its short name: see [`Names::parameter`]. Most parameters of ECMWF are
    /// the ones that edition 2 has as a discipline of their own.
    pub(super) fn parameter_of_edition_1(&self, product: &Product) -> Option<TableEntry> {
        let table = product.raw(Key::Table2Version).and_then(|table| u8::try_from(table).ok())?;
        let number = product.raw(Key::IndicatorOfParameter).and_then(|number| u8::try_from(number).ok())?;
        self.find_or_ecmwf(Group::of_edition_1(table, number), product)
            .or_else(|| self.of_ecmwf(Group::parameter(LOCAL, table, number), product))
            .or_else(|| self.nameless(table, number))
    }
}

/// The folder of a centre in edition 1 (common code table C-1).
const fn centre_of_edition_1(number: u16) -> Option<u8> {
    Some(match number {
        34 => folder::RJTD,
        46 => folder::SBSJ,
        84 => folder::LFPW,
        88 => folder::ENMI,
        233 => folder::EIDB,
        74 => return None,
        number => return centre(number),
    })
}

/// The folder of a data set that is treated like a centre.
fn data_set(origin: &Origin) -> Option<u8> {
    if let Some((found, _)) = DataSet::of(origin.status) {
        return Some(match found {
            DataSet::Tigge => folder::TIGGE,
            DataSet::S2s => folder::S2S,
            DataSet::Uerra | DataSet::Regional => folder::UERRA,
            DataSet::DestinationEarth if origin.generation == Some(1) => folder::DESTINEGEN1,
            DataSet::DestinationEarth => folder::DESTINE,
            DataSet::Reanalyses => folder::LCGCR,
            DataSet::Intercomparison => folder::WPMIP,
        });
    }
    match origin.class? {
        50 => Some(folder::CERISE),
        40 => Some(folder::ERA6),
        35 | 38 => Some(folder::HYDRO_LEGACY),
        42 | 43 | 48 | 49 => Some(folder::HYDRO),
        39 => Some(folder::FIRE),
        3 | 5 | 14 | 21..=24 | 30 | 33 => Some(folder::ERA),
        53 => Some(folder::NEXTGEMS),
        _ => None,
    }
}

/// The folder of a centre (common code table C-11).
const fn centre(number: u16) -> Option<u8> {
    Some(match number {
        7 => folder::KWBC,
        74 => folder::EGRR,
        78 => folder::EDZW,
        80 => folder::CNMC,
        82 => folder::ESWI,
        85 => folder::LFPW,
        86 => folder::EFKL,
        94 => folder::EKMI,
        ECMWF => folder::ECMF,
        _ => return None,
    })
}

/// The kind of data (code table 1.4) in the language of archives.
pub(super) const fn data_type(code: u8) -> Option<&'static str> {
    Some(match code {
        0 => "an",
        1 => "fc",
        3 => "cf",
        4 => "pf",
        _ => return None,
    })
}
