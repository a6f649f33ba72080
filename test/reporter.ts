import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

/** What one vitest run tells `test/run.ts`. Vitest's JSON reporter leaves out why a test was skipped. */
export interface Report {
  readonly passed: number
  readonly failed: number
  /** The titles of the tests among them. */
  readonly failures: readonly string[]
  readonly skipped: readonly { readonly title: string; readonly reason: string }[]
}

/** Writes a `Report` to the file named by THROUGHLINE_TEST_REPORT. */
class ReportWriter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const file = process.env['THROUGHLINE_TEST_REPORT']
    if (file !== undefined)
      writeFileSync(file, JSON.stringify(buildReport(modules, unhandledErrors)))
  }
}

function buildReport(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): Report {
  let passed = 0
  // An error outside any test (a file that cannot be imported, a rejected promise nobody awaited)
  // is a failure too, or a broken file would count as no tests at all.
  let failed = unhandledErrors.length
  const failures: string[] = []
  const skipped: Report['skipped'][number][] = []
  for (const module of modules) {
    failed += module.errors().length
    for (const suite of module.children.allSuites()) failed += suite.errors().length
    for (const test of module.children.allTests()) {
      const result = test.result()
      if (result.state === 'passed') passed++
      else if (result.state === 'failed') {
        failed++
        failures.push(test.fullName)
      } else {
        const note = result.state === 'skipped' ? result.note : undefined
        skipped.push({ title: test.fullName, reason: note ?? 'no reason given' })
      }
    }
  }
  return { passed, failed, failures, skipped }
}

// Vitest loads a reporter by its file's default export.
// biome-ignore lint/style/noDefaultExport: see above
export default ReportWriter
