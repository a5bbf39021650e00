//! A JSON header and named arrays in one safetensors file: how agents, learners and samples are kept.
//! docs/formats.md describes each.

use std::collections::HashMap;

use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A kind of file.
pub(crate) struct Format {
    /// The header's name in the metadata.
    pub(crate) key: &'static str,
    /// What is in such a file, for messages.
    pub(crate) what: &'static str,
    /// Goes up when an older program would misread the file. Only this version is read.
    pub(crate) version: u32,
}

/// Numbers as they lie in a file, little-endian.
pub(crate) struct Array {
    pub(crate) name: String,
    pub(crate) dtype: Dtype,
    pub(crate) dims: Vec<usize>,
    pub(crate) bytes: Vec<u8>,
}

impl Array {
    /// An array of these dimensions; `to` gives the bytes of a number.
    pub(crate) fn new<T: Copy, const N: usize>(
        name: impl Into<String>,
        (dtype, to): (Dtype, fn(T) -> [u8; N]),
        dims: Vec<usize>,
        numbers: &[T],
    ) -> Array {
        Array {
            name: name.into(),
            dtype,
            dims,
            bytes: numbers.iter().flat_map(|&number| to(number)).collect(),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Versioned<H> {
    format: u32,
    #[serde(flatten)]
    header: H,
}

impl Format {
    /// The content of a file.
    pub(crate) fn write(&self, header: &impl Serialize, arrays: &[Array]) -> Vec<u8> {
        let header = Versioned {
            format: self.version,
            header,
        };
        let header = serde_json::to_string(&header).expect("a header is plain data");
        let views = arrays.iter().map(|array| {
            let view = TensorView::new(array.dtype, array.dims.clone(), &array.bytes);
            (&array.name, view.expect("as many bytes as numbers need"))
        });
        let metadata = HashMap::from([(self.key.to_owned(), header)]);
        safetensors::serialize(views, Some(metadata)).expect("arrays with different names")
    }

    /// Reads the content of a file. An error says what is wrong.
    pub(crate) fn read<'a, H: DeserializeOwned>(
        &self,
        bytes: &'a [u8],
    ) -> Result<(H, SafeTensors<'a>), String> {
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }

        let Format { key, what, version } = self;
        let broken = |error: SafeTensorError| format!("not a whole safetensors file: {error}");
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(broken)?;
        let header = metadata.metadata().as_ref().and_then(|all| all.get(*key));
        let header =
            header.ok_or_else(|| format!("it holds no {what}: its metadata has no `{key}`"))?;
        let broken_header = |error: serde_json::Error| format!("broken header: {error}");
        let Version { format } = serde_json::from_str(header).map_err(broken_header)?;
        if format != *version {
            return Err(format!(
                "{what} format {format}, this program reads {version}; use the version that wrote it"
            ));
        }
        let header = serde_json::from_str(header).map_err(broken_header)?;
        Ok((header, SafeTensors::deserialize(bytes).map_err(broken)?))
    }
}

/// The dimensions and numbers of an array; `from` makes a number of its bytes.
pub(crate) fn array<T, const N: usize>(
    arrays: &SafeTensors<'_>,
    name: &str,
    (dtype, from): (Dtype, fn([u8; N]) -> T),
) -> Result<(Vec<usize>, Vec<T>), String> {
    let view = arrays
        .tensor(name)
        .map_err(|error| format!("array `{name}`: {error}"))?;
    if view.dtype() != dtype {
        return Err(format!(
            "array `{name}` is {:?}; it must be {dtype:?}",
            view.dtype()
        ));
    }
    let numbers = view.data().as_chunks::<N>().0.iter();
    let numbers = numbers.map(|&bytes| from(bytes)).collect();
    Ok((view.shape().to_vec(), numbers))
}
