/** A clock that stands still until it is told how much time has passed. */

export class HandClock {
  at = 0;
  private timers: { at: number; done: () => void }[] = [];

  now() {
    return this.at;
  }
  after(ms: number, done: () => void) {
    const timer = { at: this.at + ms, done };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((one) => one !== timer);
    };
  }
  pass(ms: number) {
    this.at += ms;
    const due = this.timers.filter((one) => one.at <= this.at);
    this.timers = this.timers.filter((one) => one.at > this.at);
    for (const timer of due) timer.done();
  }
}
