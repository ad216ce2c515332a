/** Buttons: with a text, or with an icon and the name as tooltip. */
import type { ReactNode } from "react";
import {
  Button as AriaButton,
  type ButtonProps as AriaProps,
  Tooltip,
  TooltipTrigger,
} from "react-aria-components";

interface ButtonProps extends Omit<AriaProps, "className" | "children"> {
  kind?: "plain" | "quiet" | "main" | "danger";
  children?: ReactNode;
  testid?: string;
}

export function Button({ kind = "plain", testid, ...rest }: ButtonProps) {
  return <AriaButton className={`button button-${kind}`} data-testid={testid} {...rest} />;
}

interface IconButtonProps extends Omit<AriaProps, "className" | "children"> {
  name: string;
  keys?: string;
  pressed?: boolean;
  children: ReactNode;
}

/** A button of one icon; `name` is its accessible name and its tooltip. */
export function IconButton({ name, keys, pressed, children, ...rest }: IconButtonProps) {
  return (
    <TooltipTrigger delay={500} closeDelay={0}>
      <AriaButton
        className="button button-icon"
        aria-label={name}
        aria-pressed={pressed}
        data-pressed-in={pressed || undefined}
        {...rest}
      >
        {children}
      </AriaButton>
      <Tooltip className="tooltip" offset={6}>
        {name}
        {keys ? <kbd>{keys}</kbd> : null}
      </Tooltip>
    </TooltipTrigger>
  );
}
