/** Hosts from before 2023 do not have `Symbol.dispose`. Classes that name it import this first. */
(Symbol as { dispose?: symbol }).dispose ??= Symbol("Symbol.dispose");
