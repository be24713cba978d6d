export {
  type ConformanceOptions,
  type ConformanceReport,
  isArea,
  type Outcome,
  runConformance,
  type ScenarioResult,
  ServerNotReached,
} from './conformance.ts';
export { type Area, areas } from './scenario.ts';
