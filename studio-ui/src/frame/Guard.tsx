/** An error of one view leaves the rest of the page as it is. */
import { Component, type ReactNode } from "react";
import { ErrorBox } from "../parts/Empty";
import { texts } from "../texts";

export class Guard extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state = { error: null as Error | null };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    if (!this.state.error) return this.props.children;
    return (
      <ErrorBox
        title={texts.errors.view}
        text={texts.errors.crash}
        hint={this.state.error.message}
        again={() => this.setState({ error: null })}
      />
    );
  }
}
