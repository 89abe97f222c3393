/** The session that a branch was made from, and where that was then. */
export interface Parent {
  readonly session: string;
  /** Which image of it the branch went on from. */
  readonly image: number;
  readonly incarnation: number;
  /** The last entry of its logbook, when the image was made. */
  readonly entry: number;
}
