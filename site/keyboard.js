// Code and tables that are wider than the page can be scrolled with the keyboard. The theme makes code focusable only
// where there is a mouse, and tables never.
function focusable() {
  for (const wide of document.querySelectorAll("pre > code, .md-typeset__scrollwrap"))
    if (!wide.hasAttribute("tabindex")) wide.tabIndex = 0;
}
focusable();
const changes = { subtree: true, childList: true, attributeFilter: ["tabindex"] };
new MutationObserver(focusable).observe(document.body, changes);
