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
      readonly movable?: boolean;
      readonly client?: string;
      readonly image?: number;
      readonly open_files?: string;
      readonly files?: string;
      readonly branches?: string;
      readonly takes?: string;
      readonly incarnation?: number;
      readonly expires_ms?: number;
      readonly origin?: string;
      readonly trial?: boolean;
      readonly memory?: number;
      readonly millicpus?: number;
      readonly pids?: number;
    }
  | {
      readonly do: "recover";
      readonly recovers?: string;
      readonly name?: string;
      readonly env?: Readonly<Record<string, string>>;
      readonly image?: number;
      readonly takes?: string;
      readonly client?: string;
      readonly open_files?: string;
      readonly incarnation?: number;
      readonly expires_ms?: number;
      readonly origin?: string;
    }
  | { readonly do: "images"; readonly id?: string }
  | { readonly do: "remove_image"; readonly id?: string; readonly number?: number }
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
