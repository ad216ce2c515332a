/** Where files can be dropped. */
import { FileDown } from "lucide-react";
import { type DragEvent, type ReactNode, useRef, useState } from "react";

/** A file that was dropped; `folder`: it is none, but a folder. */
export interface Dropped {
  file: File;
  folder: boolean;
}

/** Are files dragged, and not something of the page? */
export function hasFiles(event: DragEvent): boolean {
  return event.dataTransfer.types.includes("Files");
}

/** Where files can be dropped; while one is dragged over it, it says what a drop does. */
export function DropArea({
  hint,
  onFiles,
  children,
}: {
  hint: string;
  onFiles: (files: Dropped[]) => void;
  children: ReactNode;
}) {
  const [over, setOver] = useState(false);
  const depth = useRef(0);
  const leave = () => {
    depth.current = 0;
    setOver(false);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a button of the view does the same by keyboard
    <div
      className="drop-area"
      onDragEnter={(event) => {
        if (!hasFiles(event)) return;
        depth.current += 1;
        setOver(true);
      }}
      onDragOver={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = "copy";
      }}
      onDragLeave={(event) => {
        if (!hasFiles(event)) return;
        depth.current -= 1;
        if (depth.current <= 0) leave();
      }}
      onDrop={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        leave();
        const items = [...event.dataTransfer.items].filter((item) => item.kind === "file");
        onFiles(
          items.flatMap((item) => {
            const file = item.getAsFile();
            return file ? [{ file, folder: item.webkitGetAsEntry()?.isDirectory ?? false }] : [];
          }),
        );
      }}
    >
      {children}
      {over ? (
        <div className="drop-hint" aria-hidden="true">
          <FileDown size={20} />
          {hint}
        </div>
      ) : null}
    </div>
  );
}
