/* Unpack the script of the page and run it. The policy names its hash: nothing else can run in its place. */
(async () => {
  const say = (text) => (document.getElementById("loading").textContent = text);
  if (typeof DecompressionStream === "undefined") {
    say("This page needs a browser of 2023 or later: this one cannot unpack its script.");
    return;
  }
  const bytes = Uint8Array.from(atob(document.getElementById("script").textContent), (byte) => byte.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(unpacked).text();
  document.body.append(script);
  document.getElementById("loading").remove();
})().catch(() => (document.getElementById("loading").textContent = "The script of this page is damaged. Make the page again, or ask for another copy."));
