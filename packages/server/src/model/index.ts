/** `throughline/model`: calls to providers that never throw, on connections that cannot be poisoned. */

export { callModel } from './calls/call.ts'
export { DEADLINES, type Deadlines } from './connections/deadlines.ts'
export { type ConnectionLoan, Pool } from './connections/pool.ts'
export type {
  CallOptions,
  CallUsage,
  EndPiece,
  Model,
  ModelRequest,
  ModelStream,
  StreamPiece,
  ToolSpec,
} from './model.ts'
export { explainOutcome, type Outcome } from './outcomes/outcome.ts'
export { type ModelDependencies, openModel } from './provider-model.ts'
export type { ProviderName } from './providers/names.ts'
export { isPublicAddress } from './routes/addresses.ts'
export { type CredentialSource, Credentials } from './routes/credential.ts'
export { destinationOf, type ModelRoute } from './routes/route.ts'
export { RouteError, Routes, type RoutesConfig, routesSchema } from './routes/routes.ts'
