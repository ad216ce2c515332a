/** The text of the statement that is drawn, or what its draft lacks. */
import { CircleAlert, CircleCheck, PencilLine } from "lucide-react";
import { Button } from "../parts/Button";
import { Linked } from "../parts/Linked";
import { set, useStudio } from "../state/store";
import { texts } from "../texts";
import { discardDraft } from "./session";
import { draftOf, faultsOf, statementOf, useGraph } from "./state";

const t = texts.graph;

export function Preview() {
  const state = useGraph();
  const writable = useStudio((s) => Boolean(s.active && s.buffers[s.active]?.writable));
  const height = state.previewHeight;
  const statement = statementOf(state);
  const draft = draftOf(state);
  const errors = faultsOf(state).filter((one) => one.severity === "error");
  const isDraft = draft !== undefined;
  return (
    <section className="preview" style={{ height }} aria-label={t.preview}>
      <h3 className="preview-head">
        <span>{t.preview}</span>
        {!state.chosen ? null : isDraft ? (
          <span className="preview-state is-warning">
            <PencilLine size={12} aria-hidden /> {t.draft}
          </span>
        ) : (
          <span className="preview-state">
            <CircleCheck size={12} aria-hidden /> {t.valid}
          </span>
        )}
        <span className="spring" />
        {isDraft && writable ? (
          <Button kind="quiet" onPress={() => void discardDraft()}>
            {t.discard}
          </Button>
        ) : null}
      </h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <div className="preview-body" tabIndex={0}>
        <div
          data-testid="epl-preview"
          data-state={isDraft || state.waiting ? "draft" : "valid"}
          data-waiting={state.waiting || undefined}
        >
          {isDraft && errors.length ? (
            <div className="preview-lacks">
              <p className="dim">{statement ? t.draftText : t.newDraftText}</p>
              <ul>
                {errors.map((one) => (
                  <li key={`${one.node}:${one.row}:${one.message}`}>
                    <CircleAlert size={12} aria-hidden className="is-error" />
                    {one.node ? (
                      <button type="button" className="link" onClick={() => set({ node: one.node })}>
                        {one.node}
                      </button>
                    ) : null}
                    <span>
                      <Linked text={one.message} />
                    </span>
                  </li>
                ))}
              </ul>
            </div>
          ) : null}
          {statement ? (
            <pre className={isDraft ? "preview-text is-old" : "preview-text"}>{statement.text}</pre>
          ) : null}
        </div>
      </div>
    </section>
  );
}
