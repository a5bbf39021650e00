//! What the server answers to the page: reasons in the language of the page, and games that the page has kept.

use crate::http::{request, serve, serve_with};
use crate::web::{JSON, command, open};
use play::server::ServerLimits;
use play::specs::Store;
use serde_json::json;

#[test]
fn reasons_come_in_the_language_asked_for() {
    let address = serve(["human", "human"], ServerLimits::default());
    let (id, _) = open(address, json!({}));
    let headers = [JSON, ("X-Session", id.as_str())];
    let body = r#"{"do":"play","text":"A1-A2"}"#;
    let answer = request(address, "POST", "/api/session?lang=it-IT", &headers, body);
    assert_eq!(answer.json()["error"], "A1-A2: nessuna linea va da A1 a A2");
}

#[test]
fn a_kept_game_comes_back_with_people_for_agents_that_are_not_offered() {
    let address = serve(["human", "greedy"], ServerLimits::default());
    let (id, view) = open(address, json!({}));
    let record = view["record"].as_str().unwrap();
    let message = json!({"do": "restore", "record": record, "seats": ["/etc/x.safetensors", "greedy"],
        "place": 0, "match": {"game": 1, "points": [0, 0], "over": false}});
    let again = command(address, &id, message).json();
    assert_eq!(again["seats"], json!(["human", "greedy"]));
    assert_eq!(again["match"]["game"], 1);
    assert_ne!(again["number"], view["number"]);
}

#[test]
fn refusals_come_in_the_language_asked_for() {
    let bounds = ServerLimits { sessions: 1, ..ServerLimits::default() };
    let address = serve(["human", "human"], bounds);
    let (id, _) = open(address, json!({}));
    let headers = [JSON, ("X-Session", id.as_str())];
    let illegal = r#"{"game":"jarmo","moves":["A1-C2","A1-C2"]}"#;
    let seats = ["human", "human"];
    for (message, part) in [
        (json!({"do": "load", "record": "x"}), "keine Spielaufzeichnung"),
        (json!({"do": "load", "record": r#"{"game":"chess","moves":[]}"#}), "unbekanntes Spiel"),
        (json!({"do": "load", "record": illegal}), "Zug 2, A1-C2: Schwarz hat"),
        (json!({"do": "restore", "record": illegal, "seats": seats, "place": 0, "match": null}), "Zug 2"),
        (json!({"do": "seat", "player": "white", "who": "nobody"}), "bietet dieser Server nicht an"),
        (json!({"do": "next_game"}), "Noch ist kein Spiel"),
    ] {
        let body = message.to_string();
        let answer = request(address, "POST", "/api/session?lang=de", &headers, &body);
        assert_eq!(answer.status, 422, "{body}");
        let told = answer.json()["error"].as_str().unwrap().to_owned();
        assert!(told.contains(part), "{told}");
    }
    let full = request(address, "POST", "/api/sessions?lang=fi", &[JSON], "{}");
    assert!(full.body.contains("liian monta"), "{}", full.body);
}

#[test]
fn a_problem_with_files_of_the_server_names_them_without_their_folders() {
    let home = tempfile::tempdir().unwrap();
    let store = Store { tables: Some(home.path().join("no_tables")), ..Store::default() };
    let address = serve_with(store, ["human", "human"], ServerLimits::default());
    let answer = request(address, "POST", "/api/sessions", &[JSON], "{}");
    assert_eq!(answer.status, 422, "{}", answer.body);
    let told = answer.json()["error"].as_str().unwrap().to_owned();
    assert!(told.contains("no_tables"), "{told}");
    assert!(!told.contains(home.path().to_str().unwrap()), "{told}");
}
