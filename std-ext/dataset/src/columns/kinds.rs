//! What a field is: which keys say it, and the names that follow from it.

use std::collections::HashMap;

use tgm_grid::NamedGrid;

use super::{ABSENT, Keys, Numbers, Reader};
use crate::gather::{Cells, DTYPE, GRID, SHAPE};
use crate::label::Label;
use crate::options::Profile;
use crate::parameters::{Parameter, by_number, by_short_name};

/// What a field is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kind {
    pub(crate) name: String,
    /// Numbers of values.
    pub(crate) dtype: u32,
    pub(crate) shape: u32,
    /// The section or the bounds, the name of the grid, and the order of its pixels.
    pub(crate) grid: [u32; 3],
    /// The name of the dimension of its level, or nothing.
    pub(crate) level: String,
    /// What the table says of the parameter.
    pub(crate) table: Option<Parameter>,
    /// The statistic over an interval (code table 4.10).
    pub(crate) statistic: Option<i64>,
    /// Numbers of values: of which family a member is, such as ensemble means.
    pub(crate) family: (u32, u32),
    parameter: (u32, u32, u32),
}

/// What says what a field is: keys, or the numbers of the values that an object has of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Said<T> {
    names: [T; 6],
    parameter: [T; 3],
    dtype: T,
    shape: T,
    grid: [T; 3],
    level: T,
    surfaces: [T; 2],
    statistic: T,
    family: [T; 2],
}

/// The numbers of an object's values, and its number in its message, where it has no name.
type KindCodes = (Said<u32>, u32);

/// The keys that say what a field is.
struct KindKeys {
    said: Said<Keys>,
    type_of_level: Keys,
    numbered: Keys,
}

impl KindKeys {
    fn find(&self, cells: &Cells, object: u32) -> KindCodes {
        let find = |keys: &Keys| keys.find(cells).unwrap_or(ABSENT);
        let Said { names, parameter, grid, surfaces, family, .. } = &self.said;
        let mut codes = Said {
            names: names.each_ref().map(find),
            parameter: parameter.each_ref().map(find),
            dtype: find(&self.said.dtype),
            shape: find(&self.said.shape),
            grid: grid.each_ref().map(find),
            level: find(&self.said.level),
            surfaces: [ABSENT; 2],
            statistic: find(&self.said.statistic),
            family: family.each_ref().map(find),
        };
        // An order is one of a named grid. Alone, it may be any other number.
        if let [_, ABSENT, order] = &mut codes.grid {
            *order = ABSENT;
        }
        // Where a kind of level has no name, its number says which it is.
        if find(&self.type_of_level) == ABSENT && find(&self.numbered) != ABSENT {
            codes.surfaces = surfaces.each_ref().map(find);
        }
        // Where an object has no name, its number in the message says which it is.
        let is_unnamed = codes.names.iter().chain(&codes.parameter).all(|code| *code == ABSENT);
        (codes, if is_unnamed { object } else { 0 })
    }
}

impl Reader<'_> {
    pub(super) fn kinds(&self) -> (Vec<Kind>, Vec<u32>) {
        let keys = self.kind_keys();
        let (mut kinds, mut known, mut of_rows) = (Numbers::new(), HashMap::new(), Vec::new());
        let mut last: Option<(KindCodes, u32)> = None;
        for (cells, row) in self.rows().zip(&self.gathered.rows) {
            let codes = keys.find(cells, row.entry.object);
            // Neighbours are often equal.
            if let Some((_, code)) = last.filter(|(before, _)| *before == codes) {
                of_rows.push(code);
                continue;
            }
            let code = *known.entry(codes).or_insert_with(|| kinds.code(self.kind(&codes)));
            last = Some((codes, code));
            of_rows.push(code);
        }
        (kinds.items, of_rows)
    }

    /// The keys of kinds, as the profile has them.
    fn kind_keys(&self) -> KindKeys {
        let names = ["grib.paramId", "mars.param", "param", "grib.shortName", "shortName", "name"];
        let field = |keys: &[&str]| self.of_fields(self.keys(keys));
        let grib = |key: &str| field(&[&format!("grib.{key}")]);
        let said = Said {
            names: names.map(|key| match (self.profile, key) {
                (Profile::Plain, "name") => self.keys(&[key]),
                // The caller's names count before numbers.
                (Profile::Own(table), "grib.paramId") if table.keys("name").next().is_some() => self.keys(&[]),
                (_, "mars.param") => self.of_fields(self.keys_of("name", &[key])),
                _ => field(&[key]),
            }),
            parameter: ["discipline", "parameterCategory", "parameterNumber"].map(grib),
            dtype: self.keys(&[DTYPE]),
            shape: self.keys(&[SHAPE]),
            grid: [&[GRID, "mars.area", "area"][..], &NamedGrid::KEYS, &NamedGrid::ORDER_KEYS].map(field),
            level: self.of_fields(self.keys_of("level_type", &["grib.typeOfLevel", "mars.levtype", "levtype"])),
            surfaces: ["typeOfFirstFixedSurface", "typeOfSecondFixedSurface"].map(grib),
            statistic: grib("typeOfStatisticalProcessing"),
            family: ["derivedForecast", "probabilityType"].map(grib),
        };
        let type_of_level = self.of_fields(self.keys_of("level_type", &["grib.typeOfLevel"]));
        KindKeys { said, type_of_level, numbered: grib("level") }
    }

    /// The kind of an object with these codes.
    fn kind(&self, (codes, object): &KindCodes) -> Kind {
        let table = parameter(codes.names.map(|code| self.label(Some(code))));
        let [discipline, category, number] = codes.parameter;
        Kind {
            name: self.name(table, &codes.names, codes.parameter, *object),
            table,
            dtype: codes.dtype,
            shape: codes.shape,
            grid: codes.grid,
            level: numbered_level(codes.surfaces.map(|code| self.label(Some(code))))
                .or_else(|| self.label(Some(codes.level)).map(level_name))
                .unwrap_or_default(),
            statistic: self.label(Some(codes.statistic)).and_then(Label::as_integer),
            family: codes.family.into(),
            parameter: (discipline, category, number),
        }
    }

    /// The name of a variable.
    fn name(&self, table: Option<Parameter>, names: &[u32; 6], triple: [u32; 3], object: u32) -> String {
        if let Some(parameter) = table {
            return parameter.variable.into();
        }
        let [_, others @ ..] = names.map(|code| self.label(Some(code)));
        if let Some(name) = others.into_iter().flatten().next() {
            return name.to_string();
        }
        match triple.map(|code| self.label(Some(code)).and_then(Label::as_integer)) {
            [Some(discipline), Some(category), Some(number)] => format!("d{discipline}c{category}n{number}"),
            _ => format!("object_{object}"),
        }
    }
}

/// The parameter that the labels of [`Reader::kinds`] lead to. Several parameters have one short name, so a number alone counts.
pub(crate) fn parameter([id, param, own, _, short, _]: [Option<&Label>; 6]) -> Option<Parameter> {
    if let Some(number) = id.and_then(Label::as_integer).filter(|number| *number != 0) {
        return by_number(number);
    }
    let label = [param, own, short].into_iter().flatten().next()?;
    match label {
        Label::Text(text) => match text.split_once('.') {
            // Number and table of GRIB edition 1.
            Some((number, table)) => {
                let (number, table): (i64, i64) = (number.parse().ok()?, table.parse().ok()?);
                by_number(if table == 128 { number } else { table.checked_mul(1000)?.checked_add(number)? })
            }
            None => by_short_name(text).or_else(|| text.parse().ok().and_then(by_number)),
        },
        other => other.as_integer().and_then(by_number),
    }
}

/// The dimension of a level whose kind has no name, by the types of its surfaces (code table 4.5).
fn numbered_level([first, second]: [Option<&Label>; 2]) -> Option<String> {
    let first = first?;
    Some(second.map_or_else(|| format!("level{first}"), |second| format!("level{first}_{second}")))
}

/// The dimension of a type of level, by the words of ecCodes or of archives.
fn level_name(label: &Label) -> String {
    let name = label.to_string();
    let word = short_level(&name);
    LEVELS.iter().find(|(known, _)| *known == word).map_or(name.clone(), |(_, dim)| (*dim).to_string())
}

/// Types of level: the words of archives, and the words of ecCodes, which are names of dimensions.
const LEVELS: [(&str, &str); 6] = [
    ("pl", PRESSURE),
    ("sfc", "surface"),
    ("ml", "hybrid"),
    ("pt", "theta"),
    ("pv", "potentialVorticity"),
    ("hl", "heightAboveGround"),
];
/// Pressure levels, whose dimension has one of two units.
const PRESSURE: &str = "isobaricInhPa";
const PASCALS: &str = "isobaricInPa";

/// The word of archives for the type of level that a dimension is called after: `pl` for `isobaricInhPa`. A type without one stays as it is.
///
/// ```
/// assert_eq!(tgm_dataset::short_level("hybrid"), "ml");
/// assert_eq!(tgm_dataset::short_level("meanSea"), "meanSea");
/// ```
pub fn short_level(dim: &str) -> &str {
    let dim = if dim == PASCALS { PRESSURE } else { dim };
    LEVELS.iter().find(|(_, known)| *known == dim).map_or(dim, |(word, _)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_known_by_number_and_name() {
        let find = |param: Label| parameter([None, Some(&param), None, None, None, None]).map(|it| it.variable);
        assert_eq!((find(Label::Text("2t".into())), find(Label::Integer(167))), (Some("t2m"), Some("t2m")));
        assert_eq!((find(Label::Text("130.128".into())), find(Label::Text("own".into()))), (Some("t"), None));
        // Another centre calls another parameter so.
        let numbered = |number: i64| {
            let (number, short) = (Label::Integer(number), Label::Text("lspa".into()));
            parameter([Some(&number), Some(&short), None, None, None, None]).map(|it| it.units)
        };
        assert_eq!((numbered(171_142), numbered(260_479), numbered(0)), (Some("m"), None, Some("m")));
    }
}
