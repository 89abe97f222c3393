/** The bytes that the keys of the key row send, and what Ctrl makes of a key. */

export interface Key {
  readonly label: string;
  readonly name: string;
  readonly sends: string;
  /** What it sends while the program wants application cursor keys. */
  readonly sendsToApplication?: string;
}

export const KEY_ROW: readonly Key[] = [
  { label: "Esc", name: "Esc", sends: "\x1b" },
  { label: "Tab", name: "Tab", sends: "\t" },
  { label: "↑", name: "Up", sends: "\x1b[A", sendsToApplication: "\x1bOA" },
  { label: "↓", name: "Down", sends: "\x1b[B", sendsToApplication: "\x1bOB" },
  { label: "←", name: "Left", sends: "\x1b[D", sendsToApplication: "\x1bOD" },
  { label: "→", name: "Right", sends: "\x1b[C", sendsToApplication: "\x1bOC" },
  { label: "^C", name: "^C, interrupt", sends: "\x03" },
  { label: "|", name: "Pipe", sends: "|" },
  { label: "/", name: "Slash", sends: "/" },
  { label: "~", name: "Tilde", sends: "~" },
  { label: "-", name: "Dash", sends: "-" },
  { label: "PgUp", name: "PgUp", sends: "\x1b[5~" },
  { label: "PgDn", name: "PgDn", sends: "\x1b[6~" },
];

/** Return what `typed` becomes while Ctrl is down; other keys stay as they are. */
export function withControl(typed: string): string {
  const [first = "", ...rest] = [...typed];
  const code = first.toUpperCase().charCodeAt(0);
  if (first === " " || first === "@") {
    return `\0${rest.join("")}`;
  }
  if (first === "?") {
    return `\x7f${rest.join("")}`;
  }
  return code >= 0x41 && code <= 0x5f ? String.fromCharCode(code - 0x40) + rest.join("") : typed;
}

/** Reports that a terminal sends by itself: nobody typed them. */
export function isAutomatic(data: string): boolean {
  return /^\x1b\[(?:[IO]$|M|<[0-9;]+[Mm]$|\?[0-9;]*[cn$]|>[0-9;]*c|[0-9;]*[nR]$)/u.test(data);
}
