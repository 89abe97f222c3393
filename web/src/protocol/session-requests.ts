/**
 * What is asked of a host through a channel.
 *
 * tools/write_web_protocol.py writes this file from the code in src/holdfast.
 */

/** What each field says is in src/holdfast/model/session_requests.py. */
export type HostRequest =
  | { readonly do: "status" }
  | { readonly do: "list"; readonly look?: boolean }
  | { readonly do: "overview" }
  | {
      readonly do: "create";
      readonly name?: string;
      readonly command?: readonly string[];
      readonly cwd?: string;
      readonly env?: Readonly<Record<string, string>>;
      readonly size?: readonly [number, number];
      readonly integration?: boolean;
      readonly window?: number;
      readonly runtime?: string;
      readonly net?: string;
      readonly client?: string;
    }
  | {
      readonly do: "recover";
      readonly recovers?: string;
      readonly name?: string;
      readonly env?: Readonly<Record<string, string>>;
      readonly client?: string;
    }
  | { readonly do: "rename"; readonly id?: string; readonly name?: string }
  | { readonly do: "keep"; readonly id?: string; readonly keep?: boolean }
  | { readonly do: "forget"; readonly id?: string }
  | {
      readonly do: "log";
      readonly id?: string;
      readonly from?: number;
      readonly index?: number;
      readonly since?: number;
      readonly last?: number;
      readonly head?: boolean;
    }
  | {
      readonly do: "names";
      readonly actors?: readonly string[];
      readonly called?: readonly string[];
    }
  | { readonly do: "rotate"; readonly statement?: string }
  | { readonly do: "open"; readonly session?: string }
  | { readonly do: "join" }
  | { readonly do: "terms" };
