/** Messages of what did not work, until they are closed; and what screen readers are told. */
import { X } from "lucide-react";
import { IconButton } from "../parts/Button";
import { ErrorBox, NoticeBox } from "../parts/Empty";
import { dismiss } from "../state/actions";
import { useStudio } from "../state/store";
import { texts } from "../texts";

export function Notices() {
  const notices = useStudio((state) => state.notices);
  const said = useStudio((state) => state.said);
  return (
    <>
      <div className="notices">
        {notices.map((notice) => (
          <div key={notice.id} className="notice">
            {notice.kind === "error" ? (
              <ErrorBox title={notice.title} text={notice.text} />
            ) : (
              <NoticeBox title={notice.title} text={notice.text} />
            )}
            <IconButton name={texts.errors.close} onPress={() => dismiss(notice.id)}>
              <X size={14} />
            </IconButton>
          </div>
        ))}
      </div>
      <div className="hidden" aria-live="polite" data-testid="said">
        {said}
      </div>
    </>
  );
}
