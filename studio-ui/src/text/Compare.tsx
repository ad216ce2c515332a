/** A text on disk beside the one that is edited, with what differs. */
import { MergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { textOf } from "../state/actions";
import { get } from "../state/store";
import { texts } from "../texts";
import { nonce } from "./editor";
import { look } from "./theme";

export default function Compare({ path, theirs }: { path: string; theirs: string }) {
  const parent = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!parent.current) return;
    const side = (doc: string, label: string) => ({
      doc,
      extensions: [
        EditorState.readOnly.of(true),
        EditorView.cspNonce.of(nonce()),
        EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": "true", tabindex: "0" }),
        lineNumbers(),
        look(get().dark),
      ],
    });
    const view = new MergeView({
      a: side(theirs, texts.changed.onDisk),
      b: side(textOf(path), texts.changed.here),
      parent: parent.current,
      collapseUnchanged: { margin: 3, minSize: 6 },
    });
    return () => view.destroy();
  }, [path, theirs]);
  return (
    <div className="compare">
      <div className="compare-heads">
        <span>{texts.changed.onDisk}</span>
        <span>{texts.changed.here}</span>
      </div>
      <div className="compare-body" ref={parent} />
    </div>
  );
}
