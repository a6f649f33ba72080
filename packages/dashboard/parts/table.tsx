import type { ComponentChildren } from 'preact'

interface Cells {
  readonly head: readonly string[]
  readonly rows: readonly (readonly ComponentChildren[])[]
}

export function Table(
  props: Cells & {
    readonly caption: string
    /** The text shown if there are no rows. */
    readonly none: string
  },
) {
  const { caption, head, rows, none } = props
  return (
    <section class="card" aria-label={caption}>
      <h2>{caption}</h2>
      {rows.length === 0 ? <p class="dim">{none}</p> : <Grid head={head} rows={rows} />}
    </section>
  )
}

export function Grid({ head, rows }: Cells) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <div class="table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((each) => (
              <th scope="col">{each}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {row.map((cell) => (
                <td>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
