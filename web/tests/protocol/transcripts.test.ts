/** What a client hears and must send: the stories of tests/core/client/transcripts. */

import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

import { Attachment } from "../../src/protocol/attachment.js";
import { filled, vectors } from "../vectors.js";

const FOLDER = "core/client/transcripts";
const ROOT = fileURLToPath(new URL(`../../../tests/${FOLDER}`, import.meta.url));
const US = "a_".padEnd(34, "b");

function play(attachment: Attachment, step: any): void {
  if ("link" in step) {
    expect(attachment.attach(null)).toEqual(step.link);
  } else if ("hear" in step) {
    attachment.heard(step.hear);
    const answer = attachment.answered(step.hear);
    const told = answer && { sequence: answer.sequence, code: answer.error?.code ?? null };
    expect(told).toEqual(step.answer ?? null);
  } else if ("submit" in step) {
    expect(attachment.submit(step.submit.kind, step.submit.payload)).toEqual(step.sends);
  } else if ("open" in step) {
    expect(attachment.open.map((one) => one.sequence)).toEqual(step.open);
  } else {
    expect(attachment).toMatchObject(step.knows);
  }
}

it.each(readdirSync(ROOT))("sends what the story %s says", (name) => {
  const steps = filled(vectors(`${FOLDER}/${name}`)) as any[];
  const { session, client } = steps[0].link;
  const attachment = new Attachment(session, client, "operate", US);
  for (const step of steps) play(attachment, step);
});
