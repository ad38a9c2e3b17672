/**
 * What travels with one request through the application: where it came from, and what the gate has
 * already found out and read. Types only.
 */
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { TriggerCapability } from './ports.ts'

export type HttpEnv = {
  Bindings: {
    /** Address of the peer; all requests without one count as the same peer. */
    remote?: string
    /** Breaks the connection off, also under a client that reads nothing. */
    hang_up?: () => void
    /** Told that its token or signature is valid: the connection is no stranger's. */
    proved?: () => void
  }
  Variables: {
    /** The whole body as it came: signatures are checked over these bytes. */
    body: Uint8Array<ArrayBuffer>
    /** The pattern of the route, for logs and metrics: a path may hold a capability. */
    route: string
    /** Behind `/callbacks/{token}`: the trigger that the token is of. */
    trigger?: TriggerCapability
  }
}

export type HttpApp = OpenAPIHono<HttpEnv>
