// The members of deploy/observability/dashboard.json in Grafana's own types. A test adds the file itself.
import type {
  Dashboard,
  DataQuery,
  FieldConfig,
  FieldConfigSource,
  GraphFieldConfig,
  OptionsWithLegend,
  OptionsWithTooltip,
  Panel,
} from "@grafana/schema";

// JSON has the values of enums.
type Json<T> = T extends string ? `${T}` : T extends object ? { [K in keyof T]: Json<T[K]> } : T;
type With<T, U> = Omit<T, keyof U> & U;

// Grafana's type of a panel leaves open what depends on its kind.
type Source = { type: "prometheus"; uid: "${datasource}" };
type Query = With<DataQuery, { datasource: Source; expr: string; legendFormat: string }>;
type Defaults = With<FieldConfig, { unit: string; custom: GraphFieldConfig }>;
type TimeSeries = With<
  Panel,
  {
    type: "timeseries";
    title: string;
    datasource: Source;
    fieldConfig: With<FieldConfigSource, { defaults: Defaults }>;
    options: OptionsWithLegend & OptionsWithTooltip;
    targets: Query[];
  }
>;
export type LatchkeyDashboard = Json<With<Dashboard, { panels: TimeSeries[] }>>;
