/** Requests of which only the newest counts: one is under way, and of those that come meanwhile the last one follows. */
export class Latest<Q, A> {
  private waiting: Q | undefined;
  private busy = false;
  private control: AbortController | null = null;
  private turn = 0;

  constructor(
    private readonly ask: (question: Q, signal: AbortSignal) => Promise<A>,
    private readonly done: (answer: A, question: Q) => void,
    private readonly failed: (error: unknown, question: Q) => void,
  ) {}

  /** Asks now, or as soon as the request under way is answered. */
  send(question: Q): void {
    this.waiting = question;
    if (!this.busy) void this.next();
  }

  /** Forgets what is under way: its answer is not wanted any more. */
  drop(): void {
    this.turn++;
    this.waiting = undefined;
    this.busy = false;
    this.control?.abort();
    this.control = null;
  }

  private async next(): Promise<void> {
    const turn = this.turn;
    this.busy = true;
    while (this.waiting !== undefined && turn === this.turn) {
      const question = this.waiting;
      this.waiting = undefined;
      this.control = new AbortController();
      try {
        const answer = await this.ask(question, this.control.signal);
        if (turn === this.turn) this.done(answer, question);
      } catch (error) {
        if (turn === this.turn) this.failed(error, question);
      }
    }
    if (turn === this.turn) this.busy = false;
  }
}
