/** `throughline/model`: calls to providers that never throw, on connections that cannot be poisoned. */
export { isPublicAddress } from './addresses.ts'
export { callModel } from './call.ts'
export { compactAtProvider, type ProviderCompaction } from './compact-at-provider.ts'
export { type CredentialSource, Credentials } from './credential.ts'
export { DEADLINES, type Deadlines } from './deadlines.ts'
export type {
  CallOptions,
  CallUsage,
  EndPiece,
  Model,
  ModelRequest,
  ModelStream,
  Piece,
  ToolSpec,
} from './model.ts'
export { explainOutcome, type Outcome } from './outcome.ts'
export { type Loan, Pool } from './pool.ts'
export { type Desk, openModel } from './provider-model.ts'
export { destinationOf, type ModelRoute, type ProviderName } from './route.ts'
export { RouteError, Routes, type RoutesConfig, routesSchema } from './routes.ts'
