/**
 * Style rules made at run time, without breaking the policy that forbids inline ones.
 *
 * The relay's Content-Security-Policy lets no <style> element and no style
 * attribute work. xterm.js writes both; the build (build/strict-styles.ts) turns
 * its attributes into assignments to `style`, and its elements into this: an
 * element whose text becomes a constructed sheet, which the policy allows.
 */

/** Return what can stand in for a <style> element. */
export function ownStyle(): HTMLElement {
  const element = document.createElement("span");
  const sheet = new CSSStyleSheet();
  element.hidden = true;
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  Object.defineProperty(element, "textContent", {
    set: (text: string) => sheet.replaceSync(text),
  });
  Object.defineProperty(element, "remove", {
    value: () => {
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
      Element.prototype.remove.call(element);
    },
  });
  return element;
}
