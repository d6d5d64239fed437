/* Unpack the script of the page and run it. The policy names its hash: nothing else can run in its place. */
(async () => {
  const place = document.getElementById("loading");
  const damaged = () => {
    place.textContent = "The script of this page is damaged. Make the page again, or ask for another copy.";
    document.querySelector("header").after(place);
  };
  if (typeof DecompressionStream === "undefined") {
    place.textContent = "This page needs a browser of 2023 or later: this one cannot unpack its script.";
    return;
  }
  document.addEventListener("securitypolicyviolation", damaged, { once: true });
  try {
    const bytes = Uint8Array.from(atob(document.getElementById("script").textContent), (byte) => byte.charCodeAt(0));
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(unpacked).text();
    place.remove();
    document.body.append(script);
  } catch {
    damaged();
  }
})();
