// A page that is told of a place that it does not have is ended by Streamlit and stays white. It is asked for
// anew then, once: what runs and what was spent is in the ledger, not in the page.
addEventListener("error", (event) => {
  if (!/delta path/i.test(event.message)) return;
  const key = "frostglass-mended";
  const before = Number(sessionStorage.getItem(key));
  sessionStorage.setItem(key, String(Date.now()));
  if (Date.now() - before > 30000) location.reload();
});
