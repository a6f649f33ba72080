/** What `pg` exports by default. Written out, so that our declarations need no types of `pg`. */
export interface PostgresDriver {
  readonly Pool: abstract new (...values: never[]) => object
  readonly Client: abstract new (...values: never[]) => object
  readonly types: object
}
