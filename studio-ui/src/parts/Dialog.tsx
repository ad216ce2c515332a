/** A dialog over the page: a title, a body, a row of buttons. */
import type { ReactNode } from "react";
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from "react-aria-components";

export function Dialog({
  title,
  open,
  onClose,
  size = "small",
  buttons,
  scrolls,
  children,
}: {
  title: string;
  open: boolean;
  onClose: () => void;
  size?: "small" | "wide" | "big" | "top";
  buttons?: ReactNode;
  /** text alone that may be longer than the window: keys reach it, to scroll */
  scrolls?: boolean;
  children: ReactNode;
}) {
  return (
    <ModalOverlay
      className={`overlay overlay-${size}`}
      isOpen={open}
      onOpenChange={(now) => !now && onClose()}
      isDismissable
    >
      <Modal className={`dialog dialog-${size}`}>
        <AriaDialog className="dialog-inside">
          <Heading slot="title" className={size === "top" ? "hidden" : "dialog-title"}>
            {title}
          </Heading>
          <div className="dialog-body" tabIndex={scrolls ? 0 : undefined}>
            {children}
          </div>
          {buttons ? <div className="dialog-buttons">{buttons}</div> : null}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
