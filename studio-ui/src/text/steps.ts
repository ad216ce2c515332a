/** What other views do, in the one history of a text: each step can be taken back, with the changes of the text. */
import { invertedEffects } from "@codemirror/commands";
import { type Extension, StateEffect } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import type { Step } from "../state/actions";

export const stepped = StateEffect.define<Step>();

/** `done` is called with each step that is made, undone or made again. */
export function steps(done: (step: Step) => void): Extension {
  return [
    invertedEffects.of((transaction) =>
      transaction.effects
        .filter((effect) => effect.is(stepped))
        .map(({ value }) => stepped.of({ ...value, before: value.after, after: value.before })),
    ),
    EditorView.updateListener.of((update) => {
      for (const { effects } of update.transactions)
        for (const effect of effects) if (effect.is(stepped)) done(effect.value);
    }),
  ];
}
