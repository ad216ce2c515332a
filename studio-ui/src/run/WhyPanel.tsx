import { Empty } from "../parts/Empty";
import { texts } from "../texts";

export default function WhyPanel() {
  return <Empty title={texts.why.none} text={texts.why.noneText} />;
}
