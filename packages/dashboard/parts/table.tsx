import type { ComponentChildren } from 'preact'

export function Table(props: {
  readonly caption: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly ComponentChildren[])[]
  /** The text shown if there are no rows. */
  readonly none: string
}) {
  const { caption, head, rows, none } = props
  if (rows.length === 0) {
    return (
      <section class="card" aria-label={caption}>
        <h2>{caption}</h2>
        <p class="dim">{none}</p>
      </section>
    )
  }
  return (
    <section class="card" aria-label={caption}>
      <h2>{caption}</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
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
    </section>
  )
}
