import { Empty } from "../parts/Empty";
import { texts } from "../texts";

export default function RunView() {
  return <Empty title={texts.run.title} text="" />;
}
