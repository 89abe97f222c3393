/**
 * Canonical msgpack: each value has exactly one encoding.
 *
 * A shape reads and writes one sort of value. Reading with a shape refuses
 * everything that its writer would not have written: a longer form, another order
 * of fields, what is out of bounds (docs/spec/wire.md, section 3). So nothing has
 * to be written again to be compared, and a stranger's names never become names of
 * an object's members.
 *
 * I1  read(write(v)) is v, and write(read(b)) is b.
 * I2  Whatever the bytes, a shape reads a value or throws a Misfit.
 */

import { fromUtf8, utf8 } from "./text.js";

/** Why bytes are not what they should be, or why a value cannot be written. */
export class Misfit extends Error {
  override readonly name = "Misfit";
}

export interface Shape<Value> {
  readonly write: (out: Writer, value: Value) => void;
  readonly read: (from: Reader) => Value;
}

export type Facts = Readonly<Record<string, string | number>>;

const FIRST = 256;
const TWO_32 = 2 ** 32;

export class Writer {
  private raw = new Uint8Array(FIRST);
  private view = new DataView(this.raw.buffer);
  private size = 0;

  done(): Uint8Array {
    return this.raw.slice(0, this.size);
  }

  put(data: Uint8Array): void {
    this.room(data.length);
    this.raw.set(data, this.size);
    this.size += data.length;
  }

  byte(value: number): void {
    this.room(1);
    this.raw[this.size] = value;
    this.size += 1;
  }

  short(value: number): void {
    this.room(2);
    this.view.setUint16(this.size, value);
    this.size += 2;
  }

  word(value: number): void {
    this.room(4);
    this.view.setUint32(this.size, value >>> 0);
    this.size += 4;
  }

  /** A number of 64 bits, as JavaScript can count it. */
  long(value: number): void {
    this.word(Math.floor(value / TWO_32));
    this.word(((value % TWO_32) + TWO_32) % TWO_32);
  }

  /** A head whose length is in as few bytes as it can be; `wide` are its marks. */
  head(size: number, small: readonly [number, number], wide: readonly number[]): void {
    const [mark, limit] = small;
    const [eight, sixteen, thirtyTwo] = wide as readonly [number, number, number];
    if (size < limit) this.byte(mark | size);
    else if (size < 0x100 && eight !== NONE) {
      this.byte(eight);
      this.byte(size);
    } else if (size < 0x10000) {
      this.byte(sixteen);
      this.short(size);
    } else {
      this.byte(thirtyTwo);
      this.word(size);
    }
  }

  private room(more: number): void {
    if (this.size + more <= this.raw.length) return;
    const larger = new Uint8Array(Math.max(2 * this.raw.length, this.size + more));
    larger.set(this.raw);
    this.raw = larger;
    this.view = new DataView(larger.buffer);
  }
}

export class Reader {
  private readonly view: DataView;
  private at = 0;

  constructor(private readonly raw: Uint8Array) {
    this.view = new DataView(raw.buffer, raw.byteOffset, raw.length);
  }

  get isDone(): boolean {
    return this.at === this.raw.length;
  }

  peek(): number {
    const byte = this.raw[this.at];
    if (byte === undefined) throw new Misfit("it ends too early");
    return byte;
  }

  byte(): number {
    const byte = this.peek();
    this.at += 1;
    return byte;
  }

  short(): number {
    return this.view.getUint16(this.past(2));
  }

  word(): number {
    return this.view.getUint32(this.past(4));
  }

  signedWord(): number {
    return this.view.getInt32(this.past(4));
  }

  take(size: number): Uint8Array {
    const start = this.past(size);
    return this.raw.subarray(start, start + size);
  }

  /** The length of what follows, which must be in as few bytes as it can be. */
  head(small: readonly [number, number], wide: readonly number[]): number {
    const [mark, limit] = small;
    const [eight, sixteen, thirtyTwo] = wide;
    const byte = this.byte();
    if (limit > 0 && byte >= mark && byte < mark + limit) return byte - mark;
    if (byte === eight) return this.atLeast(limit, this.byte());
    if (byte === sixteen) return this.atLeast(eight === NONE ? limit : 0x100, this.short());
    if (byte === thirtyTwo) return this.atLeast(0x10000, this.word());
    throw new Misfit("it is of another type");
  }

  atLeast(least: number, value: number): number {
    if (value < least) throw new Misfit("it is not written in its shortest form");
    return value;
  }

  private past(size: number): number {
    const start = this.at;
    if (start + size > this.raw.length) throw new Misfit("it ends too early");
    this.at = start + size;
    return start;
  }
}

/** For a type that has no form with a length of one byte. */
const NONE = -1;
const TEXT = [
  [0xa0, 32],
  [0xd9, 0xda, 0xdb],
] as const;
const BIN = [
  [0, 0],
  [0xc4, 0xc5, 0xc6],
] as const;
const ARRAY = [
  [0x90, 16],
  [NONE, 0xdc, 0xdd],
] as const;
const MAP = [
  [0x80, 16],
  [NONE, 0xde, 0xdf],
] as const;

function within(value: number, low: number, high: number): void {
  if (!(value >= low && value <= high)) {
    throw new Misfit(`${value} is not from ${low} to ${high}`);
  }
}

function writeInt(out: Writer, value: number): void {
  if (value >= 0) {
    if (value < 0x80) out.byte(value);
    else if (value < 0x100) {
      out.byte(0xcc);
      out.byte(value);
    } else if (value < 0x10000) {
      out.byte(0xcd);
      out.short(value);
    } else if (value < TWO_32) {
      out.byte(0xce);
      out.word(value);
    } else {
      out.byte(0xcf);
      out.long(value);
    }
  } else if (value >= -0x20) out.byte(value & 0xff);
  else if (value >= -0x80) {
    out.byte(0xd0);
    out.byte(value & 0xff);
  } else if (value >= -0x8000) {
    out.byte(0xd1);
    out.short(value & 0xffff);
  } else if (value >= -0x80000000) {
    out.byte(0xd2);
    out.word(value);
  } else {
    out.byte(0xd3);
    out.long(value);
  }
}

function below(limit: number, value: number, from: Reader): number {
  from.atLeast(-limit, -value);
  return value;
}

function readInt(from: Reader): number {
  const byte = from.byte();
  if (byte < 0x80) return byte;
  if (byte >= 0xe0) return byte - 0x100;
  switch (byte) {
    case 0xcc:
      return from.atLeast(0x80, from.byte());
    case 0xcd:
      return from.atLeast(0x100, from.short());
    case 0xce:
      return from.atLeast(0x10000, from.word());
    case 0xcf:
      return from.atLeast(TWO_32, from.word() * TWO_32 + from.word());
    case 0xd0:
      return below(-0x21, (from.byte() << 24) >> 24, from);
    case 0xd1:
      return below(-0x81, (from.short() << 16) >> 16, from);
    case 0xd2:
      return below(-0x8001, from.signedWord(), from);
    case 0xd3:
      return below(-0x80000001, from.signedWord() * TWO_32 + from.word(), from);
    default:
      throw new Misfit("it is no whole number");
  }
}

/** A whole number. Neither bound is beyond what JavaScript counts exactly. */
export function int(low: number, high: number): Shape<number> {
  return {
    write(out, value) {
      if (!Number.isSafeInteger(value)) throw new Misfit(`${value} is no whole number`);
      within(value, low, high);
      writeInt(out, value);
    },
    read(from) {
      const value = readInt(from);
      within(value, low, high);
      return value;
    },
  };
}

export const flag: Shape<boolean> = {
  write: (out, value) => out.byte(value ? 0xc3 : 0xc2),
  read(from) {
    const byte = from.byte();
    if (byte !== 0xc2 && byte !== 0xc3) throw new Misfit("it is no yes or no");
    return byte === 0xc3;
  },
};

/** A text of at most so many code points. */
export function text(limit: number, pattern?: RegExp): Shape<string> {
  const check = (value: string): string => {
    // Code points are never more than units: the long way is seldom gone.
    const isLong = value.length > limit && [...value].length > limit;
    if (isLong) throw new Misfit(`a text is over ${limit} characters`);
    if (pattern !== undefined && !pattern.test(value)) throw new Misfit("a text does not fit");
    return value;
  };
  return {
    write(out, value) {
      const raw = utf8(check(value));
      out.head(raw.length, ...TEXT);
      out.put(raw);
    },
    read: (from) => check(readText(from)),
  };
}

function readText(from: Reader): string {
  const raw = from.take(from.head(...TEXT));
  try {
    return fromUtf8(raw);
  } catch {
    throw new Misfit("a text is no UTF-8");
  }
}

export function bytes(low: number, high: number): Shape<Uint8Array> {
  return {
    write(out, value) {
      within(value.length, low, high);
      out.head(value.length, ...BIN);
      out.put(value);
    },
    read(from) {
      const size = from.head(...BIN);
      within(size, low, high);
      return from.take(size);
    },
  };
}

export function list<Item>(item: Shape<Item>, low: number, high: number): Shape<readonly Item[]> {
  return {
    write(out, value) {
      within(value.length, low, high);
      out.head(value.length, ...ARRAY);
      for (const one of value) item.write(out, one);
    },
    read(from) {
      const size = from.head(...ARRAY);
      within(size, low, high);
      return Array.from({ length: size }, () => item.read(from));
    },
  };
}

export function oneOf<Word extends string>(...words: readonly Word[]): Shape<Word> {
  const plain = text(64);
  const check = (value: string): Word => {
    const found = words.find((word) => word === value);
    if (found === undefined) throw new Misfit("a word is not one of those there are");
    return found;
  };
  return {
    write: (out, value) => plain.write(out, check(value)),
    read: (from) => check(plain.read(from)),
  };
}

export function orNull<Value>(shape: Shape<Value>): Shape<Value | null> {
  return {
    write(out, value) {
      if (value === null) out.byte(0xc0);
      else shape.write(out, value);
    },
    read(from) {
      if (from.peek() !== 0xc0) return shape.read(from);
      from.byte();
      return null;
    },
  };
}

const FACT_NAME = text(32, /^[a-z][a-z0-9_]*$/);
const FACT_TEXT = text(1024);
const FACT_NUMBER = int(-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);

/** A map from names, in their order, to texts and numbers. */
export function facts(limit: number): Shape<Facts> {
  return {
    write(out, value) {
      const names = Object.keys(value).sort();
      within(names.length, 0, limit);
      out.head(names.length, ...MAP);
      for (const name of names) {
        const fact = value[name]!;
        FACT_NAME.write(out, name);
        if (typeof fact === "string") FACT_TEXT.write(out, fact);
        else FACT_NUMBER.write(out, fact);
      }
    },
    read(from) {
      const size = from.head(...MAP);
      within(size, 0, limit);
      const found: Record<string, string | number> = Object.create(null);
      let last = "";
      for (let count = 0; count < size; count += 1) {
        const name = FACT_NAME.read(from);
        // Names are of ASCII: the order of the bytes is that of the letters.
        if (name <= last) throw new Misfit("its entries are not in their order");
        last = name;
        const isText = (from.peek() & 0xe0) === 0xa0 || [0xd9, 0xda, 0xdb].includes(from.peek());
        found[name] = isText ? FACT_TEXT.read(from) : FACT_NUMBER.read(from);
      }
      return found;
    },
  };
}

/** A map of these fields, all of them and in this order. */
export function struct<Value extends object>(
  fields: {
    readonly [Name in keyof Value]-?: Shape<Value[Name]>;
  },
): Fields<Value> {
  const names = Object.keys(fields) as (keyof Value & string)[];
  const written = names.map((name) => utf8(name));
  const shape: Fields<Value> = {
    count: names.length,
    write(out, value) {
      out.head(names.length, ...MAP);
      shape.writeFields(out, value);
    },
    read(from) {
      const size = from.head(...MAP);
      if (size !== names.length) throw new Misfit("it has other fields");
      return shape.readFields(from);
    },
    writeFields(out, value) {
      names.forEach((name, at) => {
        out.head(written[at]!.length, ...TEXT);
        out.put(written[at]!);
        fields[name].write(out, value[name]);
      });
    },
    readFields(from) {
      const found: Partial<Value> = {};
      for (const name of names) {
        if (readText(from) !== name) throw new Misfit(`it has no ${name} here`);
        found[name] = fields[name].read(from);
      }
      return found as Value;
    },
  };
  return shape;
}

/** A struct's shape, which can also be had without the head of its map. */
export interface Fields<Value> extends Shape<Value> {
  readonly count: number;
  readonly writeFields: (out: Writer, value: Value) => void;
  readonly readFields: (from: Reader) => Value;
}

type ValueOf<One> = One extends Shape<infer Value> ? Value : never;

/** A message that says first, under `is`, which of those of a table it is. */
export type Tagged<Table> = {
  readonly [Tag in keyof Table & string]: {
    readonly is: Tag;
    readonly body: ValueOf<Table[Tag]>;
  };
}[keyof Table & string];

const TAG = text(64);

export function writeTagged<Table extends object>(
  table: Table,
  message: Tagged<Table>,
): Uint8Array {
  const shape = table[message.is as keyof Table] as Fields<unknown>;
  const out = new Writer();
  out.head(shape.count + 1, ...MAP);
  TAG.write(out, "is");
  TAG.write(out, message.is);
  shape.writeFields(out, message.body);
  return out.done();
}

export function readTagged<Table extends object>(table: Table, raw: Uint8Array): Tagged<Table> {
  const from = new Reader(raw);
  const size = from.head(...MAP);
  if (TAG.read(from) !== "is") throw new Misfit("it does not say what it is");
  const is = TAG.read(from);
  if (!Object.hasOwn(table, is)) throw new Misfit("there is no such message");
  const shape = table[is as keyof Table] as Fields<unknown>;
  if (size !== shape.count + 1) throw new Misfit("it has other fields");
  const body = shape.readFields(from);
  if (!from.isDone) throw new Misfit("something follows it");
  return { is, body } as Tagged<Table>;
}
