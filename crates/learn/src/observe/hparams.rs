//! The settings of a run as TensorBoard shows them: hyperparameters to compare runs by, and a text.
//!
//! tensorboard-rs has neither plugin; both are a summary whose metadata names the plugin. TensorBoard finds the
//! metrics that belong to the hyperparameters by itself, because they lie in the same folder.

use std::io;
use std::time::SystemTime;

use protobuf::Message;
use protobuf::well_known_types::Value as Parameter;
use tensorboard_proto::plugin_hparams::{HParamsPluginData, SessionStartInfo};
use tensorboard_proto::summary::{Summary, Summary_Value, SummaryMetadata};
use tensorboard_proto::tensor::TensorProto;
use tensorboard_proto::tensor_shape::TensorShapeProto_Dim;
use tensorboard_proto::types::DataType;
use toml::Value;

use crate::config::Config;

/// The tag by which TensorBoard finds the hyperparameters of a run.
const HYPERPARAMETERS: &str = "_hparams_/session_start_info";

/// Both summaries of these settings.
pub(super) fn settings(config: &Config) -> io::Result<Summary> {
    let mut all = Summary::new();
    all.mut_value().push(hyperparameters(config)?);
    all.mut_value().push(text(config));
    Ok(all)
}

fn hyperparameters(config: &Config) -> io::Result<Summary_Value> {
    let mut start = SessionStartInfo::new();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    start.set_start_time_secs(now.map_or(0.0, |time| time.as_secs_f64()));
    for (key, value) in config.settings() {
        start.mut_hparams().insert(key, parameter(&value));
    }
    let mut data = HParamsPluginData::new();
    data.set_session_start_info(start);
    let content = data.write_to_bytes().map_err(io::Error::other)?;
    Ok(value(HYPERPARAMETERS, "hparams", content))
}

fn parameter(value: &Value) -> Parameter {
    let mut parameter = Parameter::new();
    match value {
        Value::Integer(number) => parameter.set_number_value(*number as f64),
        Value::Float(number) => parameter.set_number_value(*number),
        Value::Boolean(yes) => parameter.set_bool_value(*yes),
        Value::String(text) => parameter.set_string_value(text.clone()),
        other => parameter.set_string_value(other.to_string()),
    }
    parameter
}

/// The settings as a file of settings, which TensorBoard shows as a block of code.
fn text(config: &Config) -> Summary_Value {
    let text = format!("```toml\n{}```\n", config.to_toml());
    let mut one = TensorShapeProto_Dim::new();
    one.set_size(1);
    let mut tensor = TensorProto::new();
    tensor.set_dtype(DataType::DT_STRING);
    tensor.mut_tensor_shape().mut_dim().push(one);
    tensor.mut_string_val().push(text.into_bytes());
    let mut value = value("settings", "text", Vec::new());
    value.set_tensor(tensor);
    value
}

/// A value for a plugin of TensorBoard.
fn value(tag: &str, plugin: &str, content: Vec<u8>) -> Summary_Value {
    let mut metadata = SummaryMetadata::new();
    metadata.mut_plugin_data().set_plugin_name(plugin.to_owned());
    metadata.mut_plugin_data().set_content(content);
    let mut value = Summary_Value::new();
    value.set_tag(tag.to_owned());
    value.set_metadata(metadata);
    value
}
