mod crash;
mod files;
mod simulated;
mod steps;
