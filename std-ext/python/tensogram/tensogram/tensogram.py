"""The compiled half of the package, as the original names it."""

from tgmio._native import *  # noqa: F403

from tensogram import *  # noqa: F403
