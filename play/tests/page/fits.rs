//! Nothing is cut off: labels on phones in every language, and the board with its strips on laptops.

use crate::chromium::Browser;
use crate::http::serve;
use jarmo::catalog::GAMES;
use play::lang::Language;
use play::server::ServerLimits;
use serde_json::json;

/// The buttons, headings and lists on the screen whose text does not fit.
pub(crate) const CUT: &str = "const pen = document.createElement('canvas').getContext('2d');
    const isCut = (node) => {
        if (!(node instanceof HTMLSelectElement)) return node.scrollWidth > node.clientWidth + 1;
        const style = getComputedStyle(node);
        pen.font = style.font;
        const room = node.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - 16;
        return pen.measureText(node.selectedOptions[0]?.text ?? '').width > room;
    };
    const nodes = [...document.querySelectorAll('button, select, summary, label, legend:not(.unseen), h1, h2, #status, .strip, .tally, #graph-box span, #openings td')];
    return nodes.filter((node) => node.checkVisibility({ visibilityProperty: true }) && node.clientWidth > 1 && isCut(node))
        .map((node) => `${node.id || node.className}: ${node.textContent}`);";

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn no_label_is_cut_on_a_phone_in_any_language() {
    let browser = Browser::at(serve(["human", "beginner"], ServerLimits::default()));
    browser.resize(390, 844);
    for language in Language::ALL {
        browser.choose("language", language.code());
        browser.wait(&format!("return document.documentElement.lang === '{}'", language.code()));
        for game in GAMES {
            browser.choose("game", game);
            browser.wait_for_game(game);
            assert_eq!(browser.run(CUT), json!([]), "{language:?} {game}");
            browser.click("#analyse");
            browser.wait("return document.documentElement.hasAttribute('data-analysing')");
            if browser.shows("#explorer") {
                browser.run("document.getElementById('explorer').open = true");
                browser.wait("return document.querySelector('#openings tr') !== null");
            }
            assert_eq!(browser.run(CUT), json!([]), "{language:?} {game}, analysis");
            let fits = "return document.documentElement.scrollWidth <= innerWidth";
            assert_eq!(browser.run(fits), json!(true), "{language:?} {game}");
            browser.click("#moves-tab");
        }
        browser.click("#puzzles");
        browser.wait("return document.getElementById('exercise-note').textContent !== ''");
        assert_eq!(browser.run(CUT), json!([]), "{language:?}, puzzles");
        browser.click("#exercise-leave");
        for (button, dialog) in [("#welcome-open", "welcome"), ("#seat-black", "seat"), ("#deck", "deck")] {
            browser.click(button);
            browser.wait(&format!("return document.getElementById('{dialog}-box').open"));
            assert_eq!(browser.run(CUT), json!([]), "{language:?} {dialog}");
            browser.run(&format!("document.getElementById('{dialog}-box').close()"));
        }
    }
}

#[test]
#[cfg_attr(not(browser), ignore = "chromedriver is not installed")]
fn the_page_of_guard_does_not_scroll_on_a_laptop() {
    let browser = Browser::at(serve(["human", "human"], ServerLimits::default()));
    browser.choose("game", "guard");
    browser.wait_for_game("guard");
    // With captured archers, a placement in hand and guards in reserve.
    let position = "5/2Bb1/w4/w2W1/2B2 b moved 1,2 0,1 0 38";
    browser.run(&format!("location.hash = '#game=guard&from={}'", position.replace(' ', "_")));
    for (width, height) in [(1366, 768), (1280, 720), (1920, 1080)] {
        browser.resize(width, height);
        for language in Language::ALL {
            browser.choose("language", language.code());
            browser.wait(&format!("return document.documentElement.lang === '{}'", language.code()));
            let over = browser.run(
                "const { scrollHeight, scrollWidth } = document.documentElement;
                 return [scrollWidth - innerWidth, scrollHeight - innerHeight]",
            );
            assert_eq!(over, json!([0, 0]), "{width}x{height} {language:?}");
            assert_eq!(browser.run(CUT), json!([]), "{width}x{height} {language:?}");
        }
    }
}
