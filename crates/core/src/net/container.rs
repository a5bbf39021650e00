//! A safetensors file with a JSON header and named arrays. Agents, learners and samples are stored this way;
//! docs/formats.md describes the formats.

use std::collections::HashMap;

use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, Metadata, SafeTensors, TensorView};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::half;
use crate::checksum;
use crate::error::FileError;
use crate::game::shorten_quotes;

/// A kind of file.
pub struct Format {
    /// The header's name in the metadata.
    pub key: &'static str,
    /// The content of such a file, for messages.
    pub what: &'static str,
    /// The version of the format. It is increased when an older program would misread the file. Only this version is
    /// accepted.
    pub version: u32,
}

/// Bytes of the length that precedes a header.
pub const LENGTH: u64 = 8;

/// The most bytes of a header in the safetensors format.
pub const MOST_HEADER: u64 = 100_000_000;

/// A type of numbers in arrays.
pub trait Number: Copy {
    /// Its name in files.
    const DTYPE: Dtype;

    /// Appends its bytes, little-endian.
    fn write(self, bytes: &mut Vec<u8>);

    /// Reads the numbers from these bytes.
    fn read(bytes: &[u8]) -> Vec<Self>;
}

macro_rules! number_kinds {
    ($($number:ident $dtype:ident),*) => {$(
        impl Number for $number {
            const DTYPE: Dtype = Dtype::$dtype;

            fn write(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }

            fn read(bytes: &[u8]) -> Vec<$number> {
                let numbers = bytes.as_chunks().0.iter();
                numbers.map(|&bytes| $number::from_le_bytes(bytes)).collect()
            }
        }
    )*};
}

number_kinds!(u8 U8, i8 I8, u16 U16, u32 U32, f32 F32);

/// An array as the bytes of a file.
pub struct Array {
    name: String,
    dtype: Dtype,
    dims: Vec<usize>,
    bytes: Vec<u8>,
}

impl Array {
    /// An array of these dimensions.
    pub fn new<T: Number>(name: impl Into<String>, dims: Vec<usize>, numbers: &[T]) -> Array {
        let mut bytes = Vec::with_capacity(size_of_val(numbers));
        for number in numbers {
            number.write(&mut bytes);
        }
        Array { name: name.into(), dtype: T::DTYPE, dims, bytes }
    }

    /// An array of floats: 16 bits each if all numbers are exactly representable, otherwise 32.
    pub fn floats(name: impl Into<String>, dims: Vec<usize>, numbers: &[f32]) -> Array {
        match numbers.iter().map(|&number| half::exactly(number)).collect::<Option<Vec<u16>>>() {
            Some(halves) => Array { dtype: Dtype::F16, ..Array::new(name, dims, &halves) },
            None => Array::new(name, dims, numbers),
        }
    }

    /// An array of one dimension.
    pub fn flat<T: Number>(name: &str, numbers: &[T]) -> Array {
        Array::new(name, vec![numbers.len()], numbers)
    }
}

#[derive(Serialize)]
struct Versioned<'a, H> {
    format: u32,
    checksum: &'static str, // the digits are written when the rest of the file is there
    #[serde(flatten)]
    header: &'a H,
}

impl Format {
    /// The content of a file.
    pub fn write(&self, header: &impl Serialize, arrays: &[Array]) -> Vec<u8> {
        let header = Versioned { format: self.version, checksum: checksum::BLANK, header };
        let header = serde_json::to_string(&header).expect("a header is plain data");
        let views = arrays.iter().map(|array| {
            let view = TensorView::new(array.dtype, array.dims.clone(), &array.bytes);
            (&array.name, view.expect("as many bytes as numbers need"))
        });
        let metadata = HashMap::from([(self.key.to_owned(), header)]);
        let file = safetensors::serialize(views, Some(metadata));
        let mut file = file.expect("arrays with different names");
        checksum::seal(&mut file);
        file
    }

    /// Reads the content of a file.
    pub fn read<'a, H: DeserializeOwned>(&self, bytes: &'a [u8]) -> Result<(H, SafeTensors<'a>), FileError> {
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }

        let Format { key, what, version } = self;
        let size = bytes.len() as u64;
        match stated_size(bytes) {
            // The size may be so large that the library's sums would overflow.
            Some(stated) if stated != size => return Err(wrong_size(size, stated).into()),
            _ => {}
        }
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(broken)?;
        let header = metadata.metadata().as_ref().and_then(|all| all.get(*key));
        let header = header.ok_or_else(|| format!("it contains no {what}: its metadata has no `{key}`"))?;
        let fits = checksum::fits(bytes);
        if fits == Some(false) {
            return Err("damaged: its checksum does not match; use a copy of the file".to_owned().into());
        }
        let broken_header = |error: serde_json::Error| format!("broken header: {}", shorten_quotes(&error.to_string()));
        let Version { format } = serde_json::from_str(header).map_err(broken_header)?;
        if format != *version {
            let problem =
                format!("{what} format {format}, this program reads {version}; use the version that wrote it");
            return Err(problem.into());
        }
        if fits.is_none() {
            return Err("its header has no checksum; use a copy of the file".to_owned().into());
        }
        let header = serde_json::from_str(header).map_err(broken_header)?;
        Ok((header, SafeTensors::deserialize(bytes).map_err(broken)?))
    }
}

fn broken(error: SafeTensorError) -> String {
    let error = shorten_quotes(&error.to_string());
    format!("not a complete safetensors file: {error}")
}

/// The size of a file that begins with these bytes; `None` if the header in them is incomplete.
pub fn stated_size(bytes: &[u8]) -> Option<u64> {
    let length = u64::from_le_bytes(*bytes.first_chunk()?);
    let header = LENGTH.checked_add(length)?;
    let text = bytes.get(LENGTH as usize..usize::try_from(header).ok()?)?;
    let metadata: Metadata = serde_json::from_slice(text).ok()?;
    Some(header.saturating_add(metadata.data_len() as u64))
}

/// The error for a file that does not have the size stated in its header.
pub fn wrong_size(size: u64, stated: u64) -> String {
    format!("not a complete safetensors file: it has {size} bytes, but its header states {stated}")
}

/// The dimensions of an array, and its numbers.
pub fn array<T: Number>(arrays: &SafeTensors<'_>, name: &str) -> Result<(Vec<usize>, Vec<T>), FileError> {
    let view = arrays.tensor(name).map_err(|error| format!("array `{name}`: {error}"))?;
    let (dtype, wanted) = (view.dtype(), T::DTYPE);
    if dtype != wanted {
        return Err(format!("array `{name}` is {dtype:?}; it must be {wanted:?}").into());
    }
    Ok((view.shape().to_vec(), T::read(view.data())))
}

/// The dimensions of an array of floats of 16 or 32 bits, and its numbers.
pub fn floats(arrays: &SafeTensors<'_>, name: &str) -> Result<(Vec<usize>, Vec<f32>), FileError> {
    match arrays.tensor(name) {
        Ok(view) if view.dtype() == Dtype::F16 => {
            let halves = u16::read(view.data());
            Ok((view.shape().to_vec(), halves.into_iter().map(half::number).collect()))
        }
        _ => array(arrays, name),
    }
}

/// The numbers of an array.
pub fn numbers<T: Number>(arrays: &SafeTensors<'_>, name: &str) -> Result<Vec<T>, FileError> {
    Ok(array(arrays, name)?.1)
}
