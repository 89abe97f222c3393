/** The colour of an operator: the same in every session and on every day. */

const HUES = 9;

/** Return the number of an operator's colour; the style sheet knows its hue. */
export function actorColour(actor: string): number {
  let sum = 0;
  for (const character of actor) {
    sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  }
  return sum % HUES;
}
