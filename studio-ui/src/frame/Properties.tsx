/** Whether a file is part of the program: of rules, to be chosen here. */
function InProgram({ file }: { file: FileEntry }) {
  const inside = useStudio(({ project, files }) => rulesOf(project, files).includes(file.path));
  const wrong = useStudio((state) => state.projectWrong !== null);
  if (file.kind !== "rules") return <Row name={t.program}>{file.in_program ? t.yes : t.no}</Row>;
  return (
    <Row name={t.program}>
      <label className="check-field" title={wrong ? texts.errors.projectWrong : undefined}>
        <input
          type="checkbox"
          aria-label={t.inProgram}
          checked={inside}
          disabled={wrong}
          onChange={(event) => void setInProgram(file.path, event.target.checked)}
        />
        {inside ? t.yes : t.no}
      </label>
    </Row>
  );
}

/** What is known of the definition at the cursor, or of the file. */
import { ArrowRight } from "lucide-react";
import { type ReactNode, Suspense } from "react";
import type { FileEntry } from "../api/types";
import { Button } from "../parts/Button";
import { typeLook } from "../parts/colours";
import { Empty, Skeleton } from "../parts/Empty";
import { derives } from "../parts/order";
import { Panel } from "../parts/Panel";
import { keyText, plannedOf } from "../plan/model";
import { goToDefinition } from "../state/actions";
import { setInProgram } from "../state/files";
import { foundOf } from "../state/found";
import { rulesOf } from "../state/program";
import { typeOrder, usePanel, useStudio } from "../state/store";
import { grouped, texts } from "../texts";
import { VIEWS } from "../views";
import { Guard } from "./Guard";
import { Swatch } from "./Outline";

const t = texts.side;

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="field">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Type({ name }: { name: string }) {
  const order = typeOrder(useStudio.getState());
  return (
    <span className="type">
      <Swatch {...typeLook(name, order)} />
      {name}
    </span>
  );
}

/** The region Properties: what is selected in the view, or the definition at the cursor, or the file. */
export function Properties() {
  const view = useStudio((state) => state.view);
  const Own = VIEWS.find((entry) => entry.id === view)?.properties;
  const [open, toggle] = usePanel("propertiesOpen");
  return (
    <Panel title={t.properties} role="region" open={open} onToggle={toggle}>
      {Own ? (
        <Guard>
          <Suspense fallback={<Skeleton />}>
            <Own />
          </Suspense>
        </Guard>
      ) : (
        <Definition />
      )}
    </Panel>
  );
}

/** What is known of the definition of the chosen detection, of that at the cursor, or of the file. */
export function Definition() {
  const outline = useStudio((state) => state.check.outline);
  const statement = useStudio((state) => state.statement);
  const active = useStudio((state) => state.active);
  const view = useStudio((state) => state.view);
  const files = useStudio((state) => state.files);
  const plan = useStudio((state) => state.plan);
  const job = useStudio((state) => state.job);
  // in Run it is the detection that is chosen
  const chosen = useStudio((state) => (state.view === "Run" ? state.selection?.type : undefined));
  const entry =
    outline.find((one) => chosen !== undefined && one.output === chosen && derives(one)) ??
    outline.find((one) => one.name === statement && one.file === active) ??
    outline.find((one) => one.name === statement);
  const file = files.find((one) => one.path === active);
  const planned = plannedOf(plan, entry);
  const found = entry ? foundOf(job, entry.output ?? entry.name) : null;
  return (
    <>
      {entry ? (
        <dl className="fields">
          <Row name={t.definition}>{entry.name}</Row>
          <Row name={t.kind}>{entry.kind}</Row>
          {entry.output ? (
            <Row name={t.defines}>
              <Type name={entry.output} />
            </Row>
          ) : null}
          {entry.reads.length ? (
            <Row name={t.reads}>
              {entry.reads.map((name) => (
                <Type key={name} name={name} />
              ))}
            </Row>
          ) : null}
          <Row name={t.file}>
            <span className="mono">
              {entry.file}
              {entry.span ? `:${entry.span.line}` : ""}
            </span>
          </Row>
          {file && file.path === entry.file ? <InProgram file={file} /> : null}
          {planned ? (
            <Row name={t.key}>
              {keyText(planned) || (
                <span className="dim" title={planned.why_no_key ?? undefined}>
                  {texts.plan.noKey}
                </span>
              )}
            </Row>
          ) : null}
          {planned?.retention?.length ? (
            <Row name={t.retention}>
              {planned.retention.map((one) => (
                <span key={one.text} className={one.unbounded ? "is-warning" : undefined}>
                  {one.text}
                </span>
              ))}
            </Row>
          ) : null}
          {found !== null ? <Row name={t.detections}>{grouped(found)}</Row> : null}
        </dl>
      ) : file ? (
        <dl className="fields">
          <Row name={t.file}>
            <span className="mono">{file.path}</span>
          </Row>
          <Row name={t.kind}>{texts.files.kinds[file.kind]}</Row>
          {file.language ? (
            <Row name={t.language}>{texts.languages[file.language] ?? file.language}</Row>
          ) : null}
          <Row name={t.size}>
            <span className="number">{grouped(file.size)} bytes</span>
          </Row>
          {file.note ? <Row name={t.readOnly}>{file.note}</Row> : null}
          <InProgram file={file} />
        </dl>
      ) : (
        <Empty title={t.nothing} text={t.nothingText} />
      )}
      {entry && view !== "Text" ? (
        <Button kind="plain" onPress={() => void goToDefinition(entry.name)}>
          {t.go} <ArrowRight size={13} aria-hidden />
        </Button>
      ) : null}
    </>
  );
}
