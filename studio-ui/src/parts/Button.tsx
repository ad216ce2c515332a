/** Buttons: with a text, or with an icon and the name as tooltip. One that cannot be pressed says why. */
import type { ReactNode } from "react";
import {
  Button as AriaButton,
  type ButtonProps as AriaProps,
  Tooltip,
  TooltipTrigger,
} from "react-aria-components";

interface Common extends Omit<AriaProps, "className" | "children"> {
  /** why it cannot be pressed now; shown on hover */
  why?: string;
}

interface ButtonProps extends Common {
  kind?: "plain" | "quiet" | "main" | "danger";
  children?: ReactNode;
  testid?: string;
}

/** A disabled button gets no hover of its own: what is around it has the reason. It stays, so that the focus does. */
function Because({ there, why, children }: { there: boolean; why?: string; children: ReactNode }) {
  if (!there) return children;
  return (
    <span className={why ? "because" : "because-not"} title={why}>
      {children}
    </span>
  );
}

export function Button(props: ButtonProps) {
  const { kind = "plain", testid, why, isDisabled, ...rest } = props;
  return (
    <Because there={"why" in props} why={why}>
      <AriaButton
        className={`button button-${kind}`}
        data-testid={testid}
        isDisabled={isDisabled || why !== undefined}
        {...rest}
      />
    </Because>
  );
}

interface IconButtonProps extends Common {
  name: string;
  keys?: string;
  pressed?: boolean;
  children: ReactNode;
}

/** A button of one icon; `name` is its accessible name and its tooltip. */
export function IconButton(props: IconButtonProps) {
  const { name, keys, pressed, why, isDisabled, children, ...rest } = props;
  return (
    <Because there={"why" in props} why={why && `${name}: ${why}`}>
      <TooltipTrigger delay={500} closeDelay={0}>
        <AriaButton
          className="button button-icon"
          aria-label={name}
          aria-pressed={pressed}
          data-pressed-in={pressed || undefined}
          isDisabled={isDisabled || why !== undefined}
          {...rest}
        >
          {children}
        </AriaButton>
        <Tooltip className="tooltip" offset={6}>
          {name}
          {keys ? <kbd>{keys}</kbd> : null}
        </Tooltip>
      </TooltipTrigger>
    </Because>
  );
}
